import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadConfig } from './load.ts'

const brains = 'brains: { shell: { kind: command, argv: [./w] } }\n'

function problems(text: string): string[] {
  const result = loadConfig({ text, file: 'a.yaml' })
  return result.ok ? [] : result.error.map(formatProblem)
}

function notices(text: string, env: Record<string, string> = {}): string[] {
  const result = loadConfig({ text, file: 'a.yaml', env })
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value.notices.map(formatProblem)
}

describe('loadConfig', () => {
  it('is the defaults where there is no file', () => {
    const result = loadConfig({ file: 'assay.yaml' })
    expect(result).toMatchObject({ ok: true, value: { config: { review: { threshold: 60 } }, notices: [] } })
  })

  it.each([
    [
      `${brains}agents: { dev: { role: engineer, brain: shel } }\n`,
      'a.yaml:2:41: "dev" has the brain "shel", which is not defined under brains (did you mean `shell`?)',
    ],
    [
      `${brains}agents: { lead: { role: manager, brain: shell }, dev: { role: engineer, brain: shell, reportsTo: laed } }\n`,
      'a.yaml:2:98: "dev" reports to "laed", who is not an agent (did you mean `lead`?)',
    ],
    [`${brains}agents: { dev: { role: engineer, brain: shell, reportsTo: dev } }\n`, 'a.yaml:2:59: "dev" reports to itself'],
    [`${brains}agents: { qa: { role: reviewer, brain: shell, skills: [x] } }\n`, 'a.yaml:2:55: "qa" has a reviewer'],
    [`${brains}agents: { owner: { role: engineer, brain: shell } }\n`, 'a.yaml:2:11: "owner" is reserved for the owner'],
    [`${brains}agents: { constructor: { role: engineer, brain: shell } }\n`, 'a.yaml:2:11: "constructor" cannot be used as a name'],
    [`${brains}agents: { "a\\nb": { role: engineer, brain: shell } }\n`, 'a.yaml:2:11: "a\\nb" cannot be used as a name'],
    ['brains: { "": { kind: scripted, file: x } }\n', 'a.yaml:1:11: "" cannot be used as a name'],
    [
      'brains: { m: { kind: model, provider: openai-compatible, model: x } }\n',
      'a.yaml:1:14: the brain `m` is `openai-compatible` and has no `baseURL`',
    ],
    [
      'brains: { m: { kind: model, provider: openai, model: x, baseURL: localhost } }\n',
      'a.yaml:1:66: the `baseURL` of `m` is not an http or https address',
    ],
    [
      'brains: { m: { kind: model, provider: openai, model: x, baseURL: "file:///etc/passwd" } }\n',
      'a.yaml:1:66: the `baseURL` of `m` is not an http or https address',
    ],
    [
      'brains: { m: { kind: model, provider: openai, model: x, baseURL: "https://u:hunter2@h/v1" } }\n',
      'a.yaml:1:66: the `baseURL` of `m` has a password in it',
    ],
    [
      'review:\n  weightSum: strict\n  dimensions:\n    - { name: a, weight: 0.5, description: x }\n    - { name: b, weight: 0.4, description: x }\n',
      'a.yaml:4:5: the weights of the dimensions sum to 0.9, not 1',
    ],
    [
      'review:\n  dimensions:\n    - { name: a, weight: 0.5, description: x }\n    - { name: a, weight: 0.5, description: x }\n',
      'a.yaml:4:15: the dimension `a` is there twice',
    ],
    [
      'checks: [{ kind: file, id: x, path: a }, { kind: file, id: x, path: b }]\n',
      'a.yaml:1:60: the check `x` has the name of another check before it (give it an `id` of its own)',
    ],
    [
      'checks: [{ kind: file, id: file-2, path: a }, { kind: file, path: b }]\n',
      'a.yaml:1:47: the check `file-2` has the name of another check',
    ],
    ['checks: [{ kind: file, path: ../secret }]\n', 'a.yaml:1:30: the check looks at "../secret", which is not inside the workspace'],
    ['checks: [{ kind: file, path: /etc/passwd }]\n', 'a.yaml:1:30: the check looks at "/etc/passwd"'],
    ['checks: [{ kind: text, path: "C:\\\\x", contains: [a] }]\n', 'a.yaml:1:30: the check looks at "C:\\x"'],
    ['checks: [{ kind: command, argv: [x], cwd: a/../../b }]\n', 'a.yaml:1:43: the check looks at "a/../../b"'],
    ['delegate: { agent: dev }\n', 'a.yaml:1:20: the agent `dev` is not declared under agents (none is declared under agents)'],
    [`${brains}delegate: { judge: shel }\n`, 'a.yaml:2:20: the brain `shel` is not declared under brains (did you mean `shell`?)'],
    ['sla: { warningChannels: [slack] }\n', 'a.yaml:1:26: the channel `slack` is not declared under notify.channels'],
    ['settings: { sla: { violationChannels: [ops] } }\n', 'a.yaml:1:40: the channel `ops` is not declared under notify.channels'],
    [
      'notify:\n  channels: { ops: { kind: stderr } }\n  rules: [{ events: [task.held], channels: [opps] }]\n',
      'a.yaml:3:45: the channel `opps` is not declared under notify.channels (did you mean `ops`?)',
    ],
    [
      'notify: { channels: { hook: { kind: webhook, url: https://ada:geheim@x.example/in } } }\n',
      'a.yaml:1:51: the address of `hook` has a name or a password in it (name the variable that holds the address: `urlEnv`)',
    ],
    [
      'notify: { channels: { hook: { kind: webhook, url: https://token@x.example/in } } }\n',
      'a.yaml:1:51: the address of `hook` has a name or a password in it (name the variable that holds the address: `urlEnv`)',
    ],
    [
      'notify:\n  channels: { ops: { kind: stderr } }\n  rules: [{ events: ["*", nosuch.event, task.held], channels: [ops] }]\n',
      'a.yaml:3:27: `nosuch.event` fits no event that is told of',
    ],
    [
      'notify:\n  channels: { ops: { kind: stderr } }\n  rules: [{ events: [taks.*], channels: [ops] }]\n',
      'a.yaml:3:22: `taks.*` fits no event that is told of (did you mean `task.*`?)',
    ],
    ['notify: { channels: { hook: { kind: webhook } } }\n', 'a.yaml:1:29: the webhook `hook` needs either `url` or `urlEnv`'],
    [
      'notify: { channels: { hook: { kind: webhook, url: https://x.example, urlEnv: X } } }\n',
      'a.yaml:1:29: the webhook `hook` needs either `url` or `urlEnv`',
    ],
    ['limits: { judgeRequest: 20m }\n', 'a.yaml:1:25: `limits.judgeRequest` (20m) is longer than the sitting around it'],
  ])('refuses %j', (text, expected) => {
    const found = problems(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(expected)
  })

  it('never tells a password that stands in an address', () => {
    const text = 'brains: { m: { kind: model, provider: openai, model: x, baseURL: "https://u:hunter2@h/v1", apiKeyEnv: "sk-hunter2" } }\n'
    expect(problems(text).join()).not.toContain('hunter2')
    expect(problems(text)).toHaveLength(1)
  })

  it('tells of a circle of managers by name', () => {
    const text = `${brains}agents:\n  a: { role: x, brain: shell, reportsTo: b }\n  b: { role: y, brain: shell, reportsTo: a }\n`
    expect(problems(text)).toEqual(['a.yaml:3:42: agents report to each other in a circle: a → b → a'])
  })

  it('tells all rules at once, in the order of the file', () => {
    const text = 'limits: { judgeRequest: 20m }\nchecks: [{ kind: file, path: /x }]\ndelegate: { agent: nobody }\n'
    expect(problems(text).map((line) => line.slice(0, 9))).toEqual(['a.yaml:1:', 'a.yaml:2:', 'a.yaml:3:'])
  })

  it('notices weights that it normalises, and keys that it will not send', () => {
    expect(notices('review: { dimensions: [{ name: a, weight: 2, description: x }] }\n')).toEqual([
      'a.yaml:1:23: the weights of the dimensions sum to 2, not 1: each counts by its share of the sum',
    ])
    const model = 'brains:\n  m: { kind: model, provider: openai-compatible, baseURL: "http://127.0.0.1:1/v1", model: x'
    expect(notices(`${model} }\nagents: { q: { role: qa, brain: m } }\n`)).toEqual([
      'a.yaml:2:6: the brain `m` names no `apiKeyEnv`: no key is sent',
    ])
    expect(notices(`${model}, apiKeyEnv: K }\nagents: { q: { role: qa, brain: m } }\n`)[0]).toContain('the variable `K` is not set')
    expect(notices(`${model}, apiKeyEnv: K }\nagents: { q: { role: qa, brain: m } }\n`, { K: 'x' })).toEqual([])
    expect(notices(`${model} }\n`)).toEqual([])
  })
})
