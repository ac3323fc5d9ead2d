import { describe, expect, it } from 'vitest'
import type { CheckEntry } from '../../contract/check.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { checkFindings } from './check-checks.ts'
import { loadConfig } from './load.ts'

const shell = 'brains: { shell: { kind: command, argv: [./w] } }\n'
const model = (more: string) => `brains: { m: { kind: model, provider: openai, model: x${more} } }\n`

function load(text: string) {
  return loadConfig({ text, file: 'a.yaml' })
}

/** The places and texts of what is wrong. */
function problems(text: string): string[] {
  const result = load(text)
  return result.ok ? [] : result.error.map(formatProblem)
}

describe('a page that a check looks at', () => {
  const kinds = ['http', 'html', 'browser', 'landing-page'] as const
  const of = (kind: string, more: object) => checkFindings([{ spec: { kind, ...more } as CheckEntry, path: ['checks', 0] }])

  it.each(kinds)('is one of the workspace or one of the network: %s', (kind) => {
    expect(of(kind, { url: 'http://localhost:3000/x' })).toEqual([])
    expect(of(kind, { url: 'https://example.com' })).toEqual([])
    expect(of(kind, { path: 'site/index.html' })).toEqual([])
    const fix = expect.stringMatching(/`path`.*`url`/)
    expect(of(kind, {})).toEqual([{ path: ['checks', 0], message: expect.stringContaining('neither'), fix }])
    expect(of(kind, { path: 'a', url: 'https://example.com' })).toEqual([
      { path: ['checks', 0, 'url'], message: expect.stringContaining('both'), fix },
    ])
  })

  it.each(['example.com', 'ftp://example.com/x', 'file:///etc/passwd', 'javascript:alert(1)', 'http://'])(
    'has an address that can be asked, not %s',
    (url) => {
      expect(of('http', { url })).toEqual([
        { path: ['checks', 0, 'url'], message: expect.stringContaining(JSON.stringify(url)), fix: expect.stringContaining('https://') },
      ])
    },
  )

  it('is no matter of other checks', () => {
    expect(of('file', { path: 'a' })).toEqual([])
    expect(of('command', { argv: ['make'] })).toEqual([])
  })
})

describe('checks that stand in two files', () => {
  const command: CheckEntry = { kind: 'command', argv: ['make'], cwd: '..' } as CheckEntry
  const named = { ...command, cwd: 'sub', id: 'build' } as CheckEntry

  it('are found fault with in the file that is read, for names that the other has taken too', () => {
    expect(checkFindings([{ spec: command }])).toEqual([])
    expect(checkFindings([{ spec: named }, { spec: named, path: ['x'] }])).toMatchObject([{ path: ['x', 'id'] }])
    const unnamed = { ...command, cwd: 'sub' } as CheckEntry
    const taken = { ...named, id: 'command-2' } as CheckEntry
    expect(checkFindings([{ spec: taken }, { spec: unnamed, path: ['x'] }])).toMatchObject([{ path: ['x'] }])
    expect(checkFindings([{ spec: named, path: ['x'] }, { spec: named }])).toEqual([])
  })

  it('may look at a folder below, and at a file with a drive letter or two dots in its name', () => {
    for (const cwd of ['a/b', 'a/c:d', 'a..b']) expect(checkFindings([{ spec: { ...command, cwd } as CheckEntry, path: [] }])).toEqual([])
    expect(checkFindings([{ spec: command, path: ['c'] }])).toMatchObject([{ path: ['c', 'cwd'], fix: expect.stringContaining('..') }])
  })
})

describe('a bound on the cost of judging', () => {
  it('needs the prices of every model, and of nothing else', () => {
    const [found, ...others] = problems(`review: { maxCost: 1 }\n${model('')}`)
    expect(found).toMatch(/^a\.yaml:2:11: .*maxCost.*`m`.*prices/)
    expect(others).toEqual([])
    expect(problems(`review: { maxCost: 1 }\n${model(', prices: { inputPerMillion: 1, outputPerMillion: 1 }')}`)).toEqual([])
    expect(problems(`review: { maxCost: 1 }\n${shell}`)).toEqual([])
    expect(problems(model(''))).toEqual([])
  })
})

describe('names', () => {
  const channel = (name: string) => `notify:\n  channels: { ${JSON.stringify(name)}: { kind: stderr } }\n`

  it.each(['1st', '_x', 'été', 'a b.c-d', 'x'.repeat(64)])('may be %j', (name) => {
    expect(problems(channel(name))).toEqual([])
  })

  it.each(['-x', '.x', ' x', '', 'a/b', 'toString', 'x'.repeat(65), '!'])('may not be %j; the place and the rule are told', (name) => {
    const [found, ...others] = problems(channel(name))
    expect(found).toMatch(/^a\.yaml:2:15: .*begin with a letter/)
    expect(others).toEqual([])
  })

  it('that are not declared get a suggestion only where one is near', () => {
    const agents = `${shell}agents: { dev: { role: engineer, brain: shell } }\n`
    expect(problems(`${agents}delegate: { agent: dve }\n`)).toEqual([expect.stringContaining('did you mean `dev`?')])
    const [far] = problems(`${agents}delegate: { agent: somebody-else }\n`)
    expect(far).toMatch(/is not declared under agents$/)
  })

  it('of a manager are suggested from the others, never the agent itself', () => {
    const agents = (reportsTo: string) =>
      `${shell}agents: { leda: { role: engineer, brain: shell, reportsTo: ${reportsTo} }, zed: { role: x, brain: shell } }\n`
    expect(problems(agents('lead'))).toEqual([expect.not.stringContaining('did you mean')])
    expect(problems(agents('zedd'))).toEqual([expect.stringContaining('did you mean `zed`?')])
  })
})

describe("a model's address", () => {
  it('is only needed where the provider has none, and only http or https', () => {
    expect(problems(model(''))).toEqual([])
    expect(problems(model(', baseURL: "HTTPS://h/v1"'))).toEqual([])
    for (const scheme of ['xhttp', 'httpsx']) expect(problems(model(`, baseURL: "${scheme}://h/v1"`))).toHaveLength(1)
    const [missing] = problems('brains: { m: { kind: model, provider: openai-compatible, model: x } }\n')
    expect(missing).toMatch(/http:\/\//)
  })

  it.each(['https://user@h/v1', 'https://:secret@h/v1', 'https://user:secret@h/v1'])('has nobody’s name or password in it: %s', (url) => {
    const [found, ...others] = problems(model(`, baseURL: "${url}"`))
    expect(found).toMatch(/password.*`apiKeyEnv`/)
    expect(found).not.toContain('secret')
    expect(others).toEqual([])
  })
})

describe('what is right', () => {
  it('is found no fault with: channels that are declared, a webhook with one address, limits that are equal', () => {
    const channels = 'notify:\n  channels: { ops: { kind: webhook, url: "https://x.example" }, env: { kind: webhook, urlEnv: X } }\n'
    const used = `sla: { warningChannels: [ops], violationChannels: [env] }\nlimits: { judgeRequest: 5m, judgeSitting: 5m }\n`
    expect(problems(channels + used)).toEqual([])
  })

  it('is told of keys only where a key could be sent, at the place that names it', () => {
    const used = 'agents: { q: { role: qa, brain: m } }\n'
    const notices = (text: string) => {
      const result = load(text)
      return result.ok ? result.value.notices.map(formatProblem) : ['refused']
    }
    expect(notices(`${model('')}${used}`)).toEqual([])
    expect(notices(`${shell}agents: { q: { role: qa, brain: shell } }\n`)).toEqual([])
    const compatible = 'brains: { m: { kind: model, provider: openai-compatible, baseURL: "http://h/v1", model: x, apiKeyEnv: K } }\n'
    expect(notices(`${compatible}${used}`)).toEqual([expect.stringMatching(/^a\.yaml:1:103: .*`K`/)])
    expect(notices(`${compatible}delegate: { judge: m }\n`)).toHaveLength(1)
  })
})
