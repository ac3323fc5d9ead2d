import { describe, expect, it } from 'vitest'
import { Config } from '../../contract/config/config.ts'
import { accepted, lives, readied } from '../../testing/task/lives.ts'
import { rulesWith } from '../../testing/task/world.ts'
import type { TaskState } from '../task/state.ts'
import { handedTask, isHandedByCall, planProposals } from './plan.ts'

const configWith = (delegate: object = {}) =>
  Config.parse({
    brains: { s: { kind: 'scripted', file: 'b.yaml' } },
    agents: { dev: { role: 'engineer', brain: 's' }, ops: { role: 'operator', brain: 's' } },
    checks: [{ kind: 'file', path: 'a.txt' }],
    review: { threshold: 72 },
    delegate,
  })
const whence = { mission: 'm-1', by: 'dev' }
const handed = (more: object = {}) => ({ title: 'Write the Docs', description: 'All of them.', to: 'ops', ...more })

type Proposal = { to: string; title: string; description: string; criteria?: string[] }

/** A task whose accepted case proposes these. */
function proposing(proposals: Proposal[], more: Partial<TaskState> = {}, depth = 0): TaskState {
  const { state } = accepted(readied(rulesWith(), { priority: 3, mission: 'm-1', id: 'm-1/parent', depth }), 'one')
  const current = { ...state.current, case: { ...state.current?.case, delegations: proposals } }
  return { ...state, current, ...more } as TaskState
}
const proposal = (title: string, more: Partial<Proposal> = {}): Proposal => ({ to: 'ops', title, description: `do ${title}`, ...more })

describe('a task that is handed down by a call', () => {
  it.each([
    ['from no task', { delegatedBy: 'dev', mission: 'delegation-1' }, true],
    ['from a task of another mission', { delegatedBy: 'dev', mission: 'delegation-1', origin: { task: 'delegation-12/1' } }, true],
    ['not where the mission’s own work proposed it', { delegatedBy: 'dev', mission: 'm-1', origin: { task: 'm-1/a' } }, false],
    ['not where nobody handed it down', { mission: 'm-1' }, false],
  ])('is known as such: %s', (_what, spec, byCall) => {
    expect(isHandedByCall(spec)).toBe(byCall)
  })

  it('is judged as the policy says, by whoever handed it down first, on the terms of delegation', () => {
    const config = configWith({ judge: 's' })
    expect(handedTask(handed({ criteria: ['it is short'] }), whence, config)).toEqual({
      ok: true,
      value: {
        id: 'm-1/write-the-docs',
        mission: 'm-1',
        title: 'Write the Docs',
        description: 'All of them.',
        assignee: 'ops',
        criteria: [{ id: 'AC1', text: 'it is short', hard: true }],
        checks: [expect.objectContaining({ kind: 'file', path: 'a.txt' })],
        dimensions: config.review.dimensions,
        bar: 72,
        dependsOn: [],
        priority: 1,
        workspace: { kind: 'scratch' },
        expectsDiff: true,
        delegatedBy: 'dev',
        depth: 1,
        terms: { panel: config.delegate.panel, judge: 's' },
      },
    })
  })

  it('goes to whom it names, else to the one that the configuration names, and to nobody else', () => {
    const to = (name: string | undefined, delegate: object = {}) => {
      const made = handedTask(handed({ to: name }), whence, configWith(delegate))
      return made.ok ? made.value.assignee : made.error
    }
    expect(to('ops', { agent: 'dev' })).toBe('ops')
    expect(to(undefined, { agent: 'dev' })).toBe('dev')
    expect(to(undefined)).toContain('delegate.agent')
    expect(to('nobody')).toContain('nobody')
    expect(to('toString')).toContain('toString')
  })

  it('has no criteria where none are given, no judge where none is named, and is refused where two are the same', () => {
    const made = handedTask(handed(), whence, configWith())
    expect(made).toMatchObject({ ok: true, value: { criteria: [] } })
    expect(made.ok && made.value.terms).not.toHaveProperty('judge')
    expect(made.ok && made.value).not.toHaveProperty('origin')
    expect(handedTask(handed({ criteria: ['x', 'x'] }), whence, configWith())).toMatchObject({
      ok: false,
      error: expect.stringMatching(/\w/),
    })
  })

  it('takes name, depth and priority from the task that it comes from', () => {
    const parent = proposing([], {}, 1)
    const made = handedTask(handed(), { ...whence, parent, flag: 'unreviewed' }, configWith())
    expect(made).toMatchObject({
      value: { id: 'm-1/parent.write-the-docs', depth: 2, priority: 3, origin: { task: 'm-1/parent', flag: 'unreviewed' } },
    })
    const clean = handedTask(handed(), { ...whence, parent }, configWith())
    expect(clean.ok && clean.value.origin).toEqual({ task: 'm-1/parent' })
  })
})

describe('proposals of accepted work', () => {
  it('become tasks of the same mission, handed down by its worker', () => {
    const plan = planProposals(proposing([proposal('one', { criteria: ['c'] }), proposal('two')]), configWith())
    expect(plan.refused).toEqual([])
    expect(plan.tasks).toMatchObject([
      {
        id: 'm-1/parent.one',
        mission: 'm-1',
        title: 'one',
        description: 'do one',
        assignee: 'ops',
        delegatedBy: 'dev',
        criteria: [{ text: 'c' }],
      },
      { id: 'm-1/parent.two', origin: { task: 'm-1/parent' } },
    ])
    expect(plan.tasks[0]?.origin).toEqual({ task: 'm-1/parent' })
  })

  it('carry the flag of work that is not clean', () => {
    const done = { flag: 'unreviewed', content: 'c' } as const
    expect(planProposals(proposing([proposal('one')], { done }), configWith()).tasks[0]?.origin).toEqual({
      task: 'm-1/parent',
      flag: 'unreviewed',
    })
  })

  it('are bounded in number; those beyond are refused by name', () => {
    const plan = planProposals(proposing(['a', 'b', 'c'].map((title) => proposal(title))), configWith({ maxDelegations: 2 }))
    expect(plan.tasks.map(({ title }) => title)).toEqual(['a', 'b'])
    expect(plan.refused).toEqual([{ title: 'c', to: 'ops', why: expect.stringMatching(/2 .*maxDelegations/) }])
  })

  it('are bounded in depth', () => {
    const config = configWith({ maxDelegationDepth: 2 })
    expect(planProposals(proposing([proposal('a')], {}, 1), config).tasks).toMatchObject([{ depth: 2 }])
    const tooDeep = planProposals(proposing([proposal('a')], {}, 2), config)
    expect(tooDeep).toEqual({ tasks: [], refused: [{ title: 'a', to: 'ops', why: expect.stringMatching(/2 deep.*maxDelegationDepth/) }] })
  })

  it('are refused where they cannot be, or are there twice', () => {
    const plan = planProposals(proposing([proposal('a', { to: 'ghost' }), proposal('b'), proposal('B!')]), configWith())
    expect(plan.tasks.map(({ title }) => title)).toEqual(['b'])
    expect(plan.refused).toEqual([
      { title: 'a', to: 'ghost', why: expect.stringContaining('ghost') },
      { title: 'B!', to: 'ops', why: expect.stringContaining('twice') },
    ])
  })

  it('are none where the case has none, or there is no case', () => {
    expect(planProposals(proposing([]), configWith())).toEqual({ tasks: [], refused: [] })
    expect(planProposals(lives.todo().state, configWith())).toEqual({ tasks: [], refused: [] })
  })
})
