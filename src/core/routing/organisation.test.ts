import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Agent, Organisation } from '../../contract/agent.ts'
import { isReviewerRole, organisationProblems } from './organisation.ts'

function organisationOf(agents: Record<string, Partial<Agent>>): Organisation {
  return {
    agents: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, { role: 'engineer', brain: 'm', ...agent }])),
    brains: { m: { kind: 'agent', agent: 'claude' } },
  }
}

describe('a reviewer role', () => {
  it.each([
    'reviewer',
    'Reviewer',
    'QA',
    'qa',
    'Qa lead',
    'code reviewer',
    'code-reviewer',
    'code_reviewer',
    'senior evaluator',
    'Judge',
    'design/qa',
    '(judge)',
  ])('is %s', (role) => {
    expect(isReviewerRole(role)).toBe(true)
  })

  it.each([
    'engineer',
    'reviewers',
    'prereviewer',
    'qa2',
    'aqa',
    'equal',
    'judgement',
    'adjudge',
    'evaluators',
    'ｑａ',
    'ǫa',
    'éqa',
    'qaé',
    'qa\u0301',
    'manager',
    '',
    'review',
  ])('is not %s', (role) => {
    expect(isReviewerRole(role)).toBe(false)
  })
})

describe('problems of an organisation', () => {
  it('are none in the documented example', () => {
    const organisation: Organisation = {
      brains: {
        judge: { kind: 'model', provider: 'openai-compatible', baseURL: 'http://127.0.0.1:4010/v1', model: 'any' },
        shell: { kind: 'command', argv: ['./worker.sh'] },
      },
      agents: {
        lead: { role: 'manager', brain: 'judge' },
        dev: { role: 'engineer', reportsTo: 'lead', brain: 'shell', skills: ['x'] },
        qa: { role: 'reviewer', brain: 'judge', skills: [] },
        qa2: { role: 'reviewer', brain: 'judge', instructions: 'Look for what is missing.' },
      },
    }
    expect(organisationProblems(organisation)).toEqual([])
  })

  it.each<[string, Record<string, Partial<Agent>>, [(string | number)[], string][]]>([
    ['an unknown brain', { a: { brain: 'x' } }, [[['agents', 'a', 'brain'], '"a" has the brain "x", which is not defined under brains']]],
    [
      'a brain named like a property of every object',
      { a: { brain: 'toString' } },
      [[['agents', 'a', 'brain'], '"a" has the brain "toString", which is not defined under brains']],
    ],
    ['an unknown manager', { a: { reportsTo: 'x' } }, [[['agents', 'a', 'reportsTo'], '"a" reports to "x", who is not an agent']]],
    [
      'a manager named like a property of every object',
      { a: { reportsTo: 'constructor' } },
      [[['agents', 'a', 'reportsTo'], '"a" reports to "constructor", who is not an agent']],
    ],
    ['self-management', { a: { reportsTo: 'a' } }, [[['agents', 'a', 'reportsTo'], '"a" reports to itself']]],
    [
      'a circle of two',
      { a: { reportsTo: 'b' }, b: { reportsTo: 'a' } },
      [[['agents', 'a', 'reportsTo'], 'agents report to each other in a circle: a → b → a']],
    ],
    [
      'a circle entered from outside',
      { a: { reportsTo: 'd' }, b: { reportsTo: 'c' }, c: { reportsTo: 'd' }, d: { reportsTo: 'b' } },
      [[['agents', 'b', 'reportsTo'], 'agents report to each other in a circle: b → c → d → b']],
    ],
    [
      'two circles',
      { a: { reportsTo: 'b' }, b: { reportsTo: 'a' }, c: { reportsTo: 'd' }, d: { reportsTo: 'c' } },
      [
        [['agents', 'a', 'reportsTo'], 'agents report to each other in a circle: a → b → a'],
        [['agents', 'c', 'reportsTo'], 'agents report to each other in a circle: c → d → c'],
      ],
    ],
    ['a chain', { a: { reportsTo: 'b' }, b: { reportsTo: 'c' }, c: {}, d: { reportsTo: 'b' } }, []],
    [
      'a reviewer with skills',
      { a: { role: 'Senior QA', skills: ['x'] } },
      [[['agents', 'a', 'skills'], '"a" has a reviewer\'s role ("Senior QA") and skills: a reviewer loads none']],
    ],
    ['names that differ in case', { dev: {}, Dev: {} }, [[['agents', 'Dev'], '"Dev" and "dev" read as the same name']]],
    [
      'names that differ in white space',
      { 'dev 1': {}, dev1: {}, 'dev\u00A01': {} },
      [
        [['agents', 'dev1'], '"dev1" and "dev 1" read as the same name'],
        [['agents', 'dev\u00A01'], '"dev\\u{a0}1" and "dev 1" read as the same name'],
      ],
    ],
    ['names that look alike', { dev: {}, dеv: {} }, [[['agents', 'dеv'], '"dеv" and "dev" read as the same name']]],
    [
      'names that differ in invisible characters',
      { dev: {}, 'dev\u200B': {} },
      [[['agents', 'dev\u200B'], '"dev\\u{200b}" and "dev" read as the same name']],
    ],
    ['a name nobody can see', { '\u200B ': {} }, [[['agents', '\u200B '], '"\\u{200b} " is not a name that anybody can see']]],
    [
      'reserved names',
      { Owner: {}, runtime: {} },
      [
        [['agents', 'Owner'], '"Owner" is reserved for the owner'],
        [['agents', 'runtime'], '"runtime" is reserved for the runtime'],
      ],
    ],
    ['names that differ', { dev: {}, dev2: {}, qa: {} }, []],
  ])('%s', (_, agents, problems) => {
    expect(organisationProblems(organisationOf(agents))).toEqual(problems.map(([path, message]) => ({ path, message })))
  })

  it('name every one of several', () => {
    const problems = organisationProblems(organisationOf({ a: { brain: 'x', reportsTo: 'y', role: 'qa', skills: ['s'] }, A: {} }))
    expect(problems.map(({ path }) => path.join('.'))).toEqual(['agents.a.brain', 'agents.a.reportsTo', 'agents.a.skills', 'agents.A'])
  })

  it('name a circle exactly where there is one, and each once', () => {
    const reports = fc.array(fc.option(fc.nat(9), { nil: undefined }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(reports, (managers) => {
        const count = managers.length
        const agents = Object.fromEntries(
          managers.map((manager, index) => [`n${index}`, manager === undefined ? {} : { reportsTo: `n${manager % count}` }]),
        )
        const managerOf = (index: number) => (managers[index] === undefined ? undefined : (managers[index] as number) % count)
        // Another way to find them: an agent is on a circle iff it meets itself within as many steps as there are agents.
        const onCircle = managers.flatMap((_, start) => {
          let at: number | undefined = start
          for (let steps = 1; steps <= count && at !== undefined; steps += 1) {
            at = managerOf(at)
            if (at === start) return steps > 1 ? [`n${start}`] : []
          }
          return []
        })
        const circles = organisationProblems(organisationOf(agents)).filter(({ message }) => message.includes('circle'))
        const named = circles.flatMap(({ message }) => message.replace(/^.*: /, '').split(' → ').slice(1))
        expect(named.toSorted()).toEqual(onCircle.toSorted())
        for (const { path, message } of circles) expect(message).toContain(`: ${path[1]} → `)
      }),
      { numRuns: 1000 },
    )
  })
})
