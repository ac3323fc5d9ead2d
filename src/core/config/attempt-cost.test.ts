import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadConfig } from './load.ts'

const brains = `brains:
  claude: { kind: agent, agent: claude }
  codex: { kind: agent, agent: codex }
  gemini: { kind: agent, agent: gemini }
  opencode: { kind: agent, agent: opencode }
  shell: { kind: command, argv: [./w] }
  priced: { kind: model, provider: openai, model: x, prices: { inputPerMillion: 1, outputPerMillion: 1 } }
  plain: { kind: model, provider: openai, model: x }
  far: { kind: outside }
  script: { kind: scripted, file: s.yaml }
`

/** What is told of a configuration in which an agent of the role uses the brain. */
function told(brain: string, role: string, more: string): string[] {
  const text = `${brains}agents: { one: { role: ${role}, brain: ${brain} } }\n${more}`
  const result = loadConfig({ text, file: 'a.yaml' })
  if (!result.ok) return result.error.map(formatProblem)
  return result.value.notices.map(formatProblem)
}

describe('a bound on the cost of an attempt', () => {
  it.each([
    ['codex', 'a.yaml:3:3', /codex does not say what it costs, and only time limits hold it/],
    ['gemini', 'a.yaml:4:3', /gemini does not say what it costs/],
    ['shell', 'a.yaml:6:3', /a command does not say what it costs/],
    ['plain', 'a.yaml:8:3', /no `prices`/],
    ['far', 'a.yaml:9:3', /nobody knows/],
  ])('that the worker %s cannot be held to is told, once, where it stands', (brain, place, why) => {
    const notices = told(brain, 'engineer', 'limits: { attemptCost: 2 }\n')
    expect(notices).toEqual([expect.stringMatching(why)])
    expect(notices[0]).toContain(`${place}: `)
    expect(notices[0]).toContain(`\`limits.attemptCost\` does not bound the brain \`${brain}\`: `)
  })

  it.each(['claude', 'opencode', 'priced', 'script'])('that holds %s is not', (brain) => {
    expect(told(brain, 'engineer', 'limits: { attemptCost: 2 }\n')).toEqual([])
  })

  it('is not told of where it is not set, or of judges and brains that nobody uses', () => {
    expect(told('codex', 'engineer', '')).toEqual([])
    expect(told('codex', 'reviewer', 'limits: { attemptCost: 2 }\n')).toEqual([])
    expect(told('claude', 'engineer', 'limits: { attemptCost: 2 }\n')).toEqual([])
  })
})
