import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Agent, Brain, Organisation } from '../../contract/agent.ts'
import { EligibleJudge } from '../../contract/review.ts'
import { nameKey } from './look-alike.ts'
import { principalOf } from './principal.ts'
import { type Route, type RoutingQuestion, route } from './route.ts'

const model = (name: string): Brain => ({ kind: 'model', provider: 'anthropic', model: name })
const brains: Record<string, Brain> = {
  big: model('big'),
  small: model('small'),
  shell: { kind: 'command', argv: ['./w.sh'] },
  claude: { kind: 'agent', agent: 'claude' },
  script: { kind: 'scripted', file: 'brain.yaml' },
}

function ask(agents: Record<string, Agent>, question: Partial<RoutingQuestion> = {}): Route {
  return route({ organisation: { agents, brains }, assignee: 'dev', participants: [], independence: 'agent', ...question })
}

function rosterOf(result: Route): string[] {
  return result.kind === 'panel' ? result.roster.map(({ judge }) => judge) : [result.kind]
}

function refusedOf(result: Route): Record<string, string> {
  return result.kind === 'solo' ? {} : Object.fromEntries(result.refused.map(({ agent, why }) => [agent, why]))
}

const dev: Agent = { role: 'engineer', brain: 'shell', reportsTo: 'lead' }
const team: Record<string, Agent> = {
  intern: { role: 'intern', brain: 'small' },
  lead: { role: 'manager', brain: 'big' },
  dev,
  qa: { role: 'reviewer', brain: 'small' },
  boss: { role: 'director', brain: 'big' },
  qa2: { role: 'QA', brain: 'big', instructions: 'Look twice.' },
}

describe('the order of reviewers', () => {
  it('is delegator, reviewers, manager, anybody else, each in the order of the configuration', () => {
    const result = ask(team, { delegatedBy: 'boss' })
    expect(result).toEqual({
      kind: 'panel',
      roster: [
        {
          judge: 'boss',
          principal: principalOf('boss', { agents: team, brains }),
          standing: 'delegator',
          form: 'structured',
          shares: 'nothing',
        },
        {
          judge: 'qa',
          principal: principalOf('qa', { agents: team, brains }),
          standing: 'reviewer',
          form: 'structured',
          shares: 'nothing',
        },
        {
          judge: 'qa2',
          principal: principalOf('qa2', { agents: team, brains }),
          standing: 'reviewer',
          form: 'structured',
          shares: 'nothing',
        },
        {
          judge: 'lead',
          principal: principalOf('lead', { agents: team, brains }),
          standing: 'manager',
          form: 'structured',
          shares: 'nothing',
        },
        {
          judge: 'intern',
          principal: principalOf('intern', { agents: team, brains }),
          standing: 'other',
          form: 'structured',
          shares: 'nothing',
        },
      ],
      warnings: [],
      refused: [],
    })
  })

  it.each([
    ['nobody delegated', {}, ['qa', 'qa2', 'lead', 'intern', 'boss']],
    ['the manager delegated', { delegatedBy: 'lead' }, ['lead', 'qa', 'qa2', 'intern', 'boss']],
    ['a reviewer delegated', { delegatedBy: 'qa2' }, ['qa2', 'qa', 'lead', 'intern', 'boss']],
    ['the delegator is written differently', { delegatedBy: ' Boss' }, ['boss', 'qa', 'qa2', 'lead', 'intern']],
    ['somebody outside delegated', { delegatedBy: 'owner' }, ['qa', 'qa2', 'lead', 'intern', 'boss']],
    ['the assignee delegated to itself', { delegatedBy: 'dev' }, ['qa', 'qa2', 'lead', 'intern', 'boss']],
    ['the assignee is written differently', { assignee: 'DEV' }, ['qa', 'qa2', 'lead', 'intern', 'boss']],
    ['the assignee is nobody here', { assignee: 'guest' }, ['qa', 'qa2', 'intern', 'lead', 'boss']],
  ])('where %s', (_, question, roster) => {
    expect(rosterOf(ask(team, question))).toEqual(roster)
  })
})

describe('who never sits', () => {
  const reviewer: Agent = { role: 'reviewer', brain: 'big' }

  it('is the assignee, or its principal under another name', () => {
    const agents = { dev: reviewer, alias: { ...reviewer, reportsTo: 'dev' }, qa: { ...reviewer, instructions: 'Else.' } }
    expect(rosterOf(ask(agents))).toEqual(['qa'])
    expect(refusedOf(ask(agents))).toEqual({ alias: 'is dev under another name, who is the assignee' })
  })

  it('is somebody whose name reads like the assignee', () => {
    const agents = { dev, dеv: reviewer, 'de v': reviewer, qa: { ...reviewer, brain: 'small' } }
    expect(rosterOf(ask(agents))).toEqual(['qa'])
    expect(refusedOf(ask(agents))).toEqual({ dеv: 'is the assignee', 'de v': 'is the assignee' })
  })

  it('is the assignee first, whatever else it was', () => {
    const agents = { dev: reviewer, alias: reviewer, dеv: { ...reviewer, brain: 'small' } }
    expect(refusedOf(ask(agents, { participants: ['dev', 'alias'] }))).toEqual({
      alias: 'took part in the attempt',
      dеv: 'is the assignee',
    })
    expect(refusedOf(ask(agents, { participants: ['dev'] }))).toMatchObject({ alias: 'is dev under another name, who is the assignee' })
  })

  it('is a participant, or its principal under another name', () => {
    const agents = { dev, helper: reviewer, clone: reviewer, qa: { ...reviewer, brain: 'small' } }
    const result = ask(agents, { participants: ['helper'] })
    expect(rosterOf(result)).toEqual(['qa'])
    expect(refusedOf(result)).toEqual({
      helper: 'took part in the attempt',
      clone: 'is helper under another name, who took part in the attempt',
    })
    expect(rosterOf(ask(agents, { participants: [' Helper', 'qa'] }))).toEqual(['none'])
    expect(refusedOf(ask(agents, { participants: ['helper', 'clone', 'qa'] }))).toEqual({
      helper: 'took part in the attempt',
      clone: 'took part in the attempt',
      qa: 'took part in the attempt',
    })
  })

  it('is a delegator that took part', () => {
    expect(rosterOf(ask(team, { delegatedBy: 'lead', participants: ['lead'] }))).toEqual(['qa', 'qa2', 'intern', 'boss'])
  })

  it('is a command without leave to judge, even as manager or delegator', () => {
    const agents = { dev, lead: { role: 'manager', brain: 'shell' }, tool: { role: 'builder', brain: 'shell', judges: false } }
    const why = 'is a command without a reviewer role or judges: true'
    expect(ask(agents, { delegatedBy: 'tool' })).toEqual({
      kind: 'none',
      refused: [
        { agent: 'lead', why },
        { agent: 'tool', why },
      ],
    })
    expect(
      rosterOf(ask({ ...agents, check: { role: 'qa', brain: 'shell' }, lint: { role: 'linter', brain: 'shell', judges: true } })),
    ).toEqual(['check', 'lint'])
  })

  it('is somebody whose brain is not defined', () => {
    expect(ask({ dev, qa: { role: 'qa', brain: 'toString' } })).toEqual({
      kind: 'none',
      refused: [{ agent: 'qa', why: 'has the brain toString, which is not defined' }],
    })
  })
})

describe('a solo agent', () => {
  it('is one with nobody else configured', () => {
    expect(ask({ dev })).toEqual({ kind: 'solo' })
    expect(ask({ dev }, { assignee: 'Dev' })).toEqual({ kind: 'solo' })
    expect(ask({})).toEqual({ kind: 'solo' })
  })

  it('is not one with only an alias beside it', () => {
    expect(ask({ dev, dev2: dev })).toEqual({
      kind: 'none',
      refused: [{ agent: 'dev2', why: 'is dev under another name, who is the assignee' }],
    })
  })
})

describe('the form of an answer', () => {
  it('is structured for models and known agents, text for what only prints', () => {
    const agents = {
      dev,
      m: { role: 'qa', brain: 'big' },
      a: { role: 'qa', brain: 'claude' },
      c: { role: 'qa', brain: 'shell' },
      s: { role: 'qa', brain: 'script', skills: ['x'] },
    }
    const result = ask(agents)
    expect(result.kind === 'panel' && result.roster.map(({ judge, form }) => `${judge} ${form}`)).toEqual([
      'm structured',
      'a structured',
      'c text',
      's text',
    ])
  })
})

describe('independence', () => {
  const agents: Record<string, Agent> = {
    dev: { role: 'engineer', brain: 'big' },
    same: { role: 'reviewer', brain: 'big' },
    near: { role: 'reviewer', brain: 'small' },
    far: { role: 'reviewer', brain: 'script' },
  }

  it('of agents lets everybody sit, and warns', () => {
    const result = ask(agents)
    expect(result.kind === 'panel' && result.roster.map(({ judge, shares }) => `${judge} ${shares}`)).toEqual([
      'same model',
      'near provider',
      'far nothing',
    ])
    expect(result).toMatchObject({
      warnings: ['same shares the model big with the worker dev', 'near shares the provider anthropic with the worker dev'],
      refused: [],
    })
  })

  it('of models refuses the same model', () => {
    const result = ask(agents, { independence: 'model' })
    expect(rosterOf(result)).toEqual(['near', 'far'])
    expect(refusedOf(result)).toEqual({ same: 'shares the model big with the worker dev (independence: model)' })
    expect(result).toMatchObject({ warnings: ['near shares the provider anthropic with the worker dev'] })
  })

  it('of providers refuses the same provider', () => {
    const result = ask(agents, { independence: 'provider' })
    expect(rosterOf(result)).toEqual(['far'])
    expect(refusedOf(result)).toEqual({
      same: 'shares the model big with the worker dev (independence: provider)',
      near: 'shares the provider anthropic with the worker dev (independence: provider)',
    })
    expect(result).toMatchObject({ warnings: [] })
  })

  it('cannot be shown where the worker is not known', () => {
    expect(rosterOf(ask(agents, { assignee: 'guest' }))).toEqual(['same', 'near', 'far', 'dev'])
    for (const independence of ['model', 'provider'] as const) {
      const result = ask(agents, { assignee: 'guest', independence })
      expect(result.kind).toBe('none')
      expect(refusedOf(result).far).toBe(
        `cannot be shown to be independent of guest, whose brain is not known (independence: ${independence})`,
      )
    }
  })
})

describe('any organisation', () => {
  const brainNames = Object.keys(brains)
  const agent = fc.record({
    role: fc.constantFrom('engineer', 'Engineer ', 'reviewer', 'qa', 'manager'),
    brain: fc.constantFrom(...brainNames, 'gone'),
    instructions: fc.constantFrom('', 'Look.', ' Look. ', 'Else.'),
    judges: fc.boolean(),
  })
  const names = fc.constantFrom('a', 'b', 'c', 'd', 'A', ' b', 'с', 'e', 'f')
  const questions = fc.record({
    agents: fc.dictionary(names, agent, { minKeys: 1, maxKeys: 7, noNullPrototype: true }),
    assignee: names,
    delegatedBy: names,
    participants: fc.array(names, { maxLength: 2 }),
    independence: fc.constantFrom('agent', 'model', 'provider') satisfies fc.Arbitrary<RoutingQuestion['independence']>,
  })

  it('never seats anybody who had a hand in the work, and accounts for everybody else', () => {
    const seen = { panel: 0, none: 0, solo: 0 }
    fc.assert(
      fc.property(questions, ({ agents, ...question }) => {
        const organisation: Organisation = { agents, brains }
        const result = route({ organisation, ...question })
        seen[result.kind] += 1
        const roster = result.kind === 'panel' ? result.roster : []
        const hands = [question.assignee, ...question.participants]
        for (const judge of roster) {
          EligibleJudge.parse(judge)
          expect(hands.map(nameKey)).not.toContain(nameKey(judge.judge))
          expect(hands.map((name) => principalOf(name, organisation))).not.toContain(principalOf(judge.judge, organisation))
          expect(judge.principal).toBe(principalOf(judge.judge, organisation))
          if (question.independence === 'provider') expect(judge.shares).toBe('nothing')
          if (question.independence === 'model') expect(judge.shares).not.toBe('model')
        }
        if (result.kind === 'solo') return
        const accounted = [...roster.map(({ judge }) => judge), ...result.refused.map(({ agent: name }) => name)]
        const assigned = Object.hasOwn(agents, question.assignee)
          ? question.assignee
          : Object.keys(agents).find((name) => nameKey(name) === nameKey(question.assignee))
        expect(accounted.toSorted()).toEqual(
          Object.keys(agents)
            .filter((name) => name !== assigned)
            .toSorted(),
        )
        const sharing = result.kind === 'panel' ? result.warnings.filter((warning) => !warning.includes('handed the task down')) : []
        expect(sharing).toHaveLength(roster.filter(({ shares }) => shares !== 'nothing').length)
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(seen.panel, seen.none, seen.solo)).toBeGreaterThan(20)
  })
})

describe('a judge outside', () => {
  const outside: Record<string, Brain> = { ...brains, away: { kind: 'outside' } }
  const asked = (agents: Record<string, Agent>, question: Partial<RoutingQuestion> = {}) =>
    route({ organisation: { agents, brains: outside }, assignee: 'dev', participants: [], independence: 'agent', ...question })

  it('sits in a reviewer role or with judges: true, answers in structure, and is marked', () => {
    const found = asked({
      dev,
      qa: { role: 'reviewer', brain: 'away' },
      peer: { role: 'engineer', brain: 'away', judges: true },
      hand: { role: 'helper', brain: 'away' },
      big: { role: 'reviewer', brain: 'big' },
    })
    expect(found).toMatchObject({
      roster: [{ judge: 'qa', form: 'structured', outside: true }, { judge: 'big' }, { judge: 'peer', outside: true }],
      refused: [{ agent: 'hand', why: 'works outside, without a reviewer role or judges: true' }],
    })
    expect(found.kind === 'panel' && found.roster[1]).not.toHaveProperty('outside')
  })

  it('sits for what it handed down where somebody reports to it, and for nothing else', () => {
    const lead: Agent = { role: 'manager', brain: 'away' }
    const peer: Agent = { role: 'helper', brain: 'away' }
    const agents = { dev: { ...dev, reportsTo: 'lead' }, lead, peer, big: { role: 'reviewer', brain: 'big' } }
    expect(asked(agents, { delegatedBy: 'lead' })).toMatchObject({
      roster: [{ judge: 'lead', standing: 'delegator', form: 'structured', outside: true }, { judge: 'big' }],
      warnings: [],
    })
    expect(refusedOf(asked(agents))).toMatchObject({ lead: expect.stringContaining('works outside') })
    const byPeer = asked(agents, { delegatedBy: 'peer' })
    expect(byPeer).toMatchObject({ roster: [{ judge: 'big' }], warnings: [expect.stringContaining('peer, who handed the task down')] })
  })

  it('is one principal with another of the same role: nobody knows what thinks for either', () => {
    const worker = asked({ dev: { role: 'reviewer', brain: 'away' }, qa: { role: 'reviewer', brain: 'away' } })
    expect(refusedOf(worker)).toEqual({ qa: 'is dev under another name, who is the assignee' })
  })

  it.each(['model', 'provider'] as const)('is too close for independence: %s', (independence) => {
    const found = asked({ dev, qa: { role: 'reviewer', brain: 'away' } }, { independence })
    expect(refusedOf(found)).toEqual({ qa: `works outside: nobody knows what thinks for it (independence: ${independence})` })
  })
})
