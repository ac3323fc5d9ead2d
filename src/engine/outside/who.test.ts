import { describe, expect, it } from 'vitest'
import { Config } from '../../contract/config/config.ts'
import { policyOf } from '../project.ts'
import { awaitedOutside, comerNamed, isOutside, judgesOutside } from './who.ts'

const policy = policyOf(
  Config.parse({
    brains: { away: { kind: 'outside' }, canned: { kind: 'scripted', file: 'b.yaml' } },
    agents: {
      dev: { role: 'engineer', brain: 'away' },
      qa: { role: 'reviewer', brain: 'away' },
      peer: { role: 'engineer', brain: 'away', judges: true },
      hand: { role: 'engineer', brain: 'canned', reportsTo: 'lead' },
      lead: { role: 'manager', brain: 'away' },
    },
  }),
)

describe('who comes from outside', () => {
  it.each([
    ['dev', true, false],
    ['qa', true, true],
    ['peer', true, true],
    ['lead', true, true],
    ['hand', false, false],
    ['stranger', true, false],
    ['toString', true, false],
  ])('%s works so: %s, judges so: %s', (name, works, judges) => {
    expect(isOutside(policy, name)).toBe(works)
    expect(judgesOutside(policy, name)).toBe(judges)
  })

  it.each([
    ['worker', 'hand', 'hand'],
    ['worker', 'stranger', 'stranger'],
    ['reviewer', 'peer', 'peer'],
  ] as const)('a %s named %s is taken', (role, named, agent) => {
    expect(comerNamed(policy, role, named)).toEqual({ ok: true, value: agent })
  })

  it.each([
    ['worker', undefined, 'there are dev, peer, lead'],
    ['reviewer', undefined, 'there are qa, peer, lead'],
    ['reviewer', 'hand', 'no reviewer whose brain is outside'],
    ['reviewer', 'stranger', 'no reviewer'],
    ['worker', 'ＯＷＮＥＲ', 'no name for an agent'],
    ['worker', 'run\u200Btime', 'no name for an agent'],
    ['worker', ' ', 'no name for an agent'],
  ] as const)('a %s named %s is refused', (role, named, why) => {
    expect(comerNamed(policy, role, named)).toMatchObject({ ok: false, error: expect.stringContaining(why) })
  })

  it('is waited for where nobody else can bring a task further', () => {
    const row = { mission: 'm', title: 't', priority: 1, bar: 60, attempt: 1, dependsOn: [], updated: '' }
    const rows = [
      { ...row, id: 'm/1', assignee: 'dev', status: 'todo' as const },
      { ...row, id: 'm/2', assignee: 'hand', status: 'todo' as const },
      { ...row, id: 'm/3', assignee: 'hand', outside: true as const, status: 'running' as const },
      {
        ...row,
        id: 'm/4',
        assignee: 'hand',
        status: 'in_review' as const,
        seats: [
          { judge: 'qa', state: 'awaited' },
          { judge: 'x', state: 'asked' },
        ],
      },
      { ...row, id: 'm/5', assignee: 'dev', status: 'done' as const },
    ]
    expect(awaitedOutside(policy, rows)).toEqual([
      { task: 'm/1', agent: 'dev', for: 'work' },
      { task: 'm/4', agent: 'qa', for: 'verdict' },
    ])
  })
})
