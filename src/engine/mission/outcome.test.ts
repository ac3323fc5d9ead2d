import { describe, expect, it } from 'vitest'
import type { TaskRow } from '../views/tasks.ts'
import { outcomeOf } from './outcome.ts'

const row = (status: TaskRow['status'], flag?: TaskRow['flag']) => ({ status, ...(flag && { flag }) }) as TaskRow
const clean = row('done', 'clean')
const accepted = row('done', 'owner-accepted')

describe('how a run ended', () => {
  it.each([
    ['what judges accepted is clean', [clean, clean], { outcome: 'clean', exitCode: 0 }],
    ['one task that the owner accepted is enough for another word', [clean, accepted], { outcome: 'owner-accepted', exitCode: 0 }],
    ['work that nobody looked at weighs more', [accepted, row('done', 'unreviewed')], { outcome: 'unreviewed', exitCode: 3 }],
    ['so does work that is not done', [accepted, row('held')], { outcome: 'inconclusive', exitCode: 3 }],
    ['and a failure weighs most', [accepted, row('held'), row('failed')], { outcome: 'failed', exitCode: 1 }],
    ['accepted below the bar by itself is a failure', [accepted, row('done', 'below-threshold')], { outcome: 'failed', exitCode: 1 }],
  ] as const)('%s', (_what, rows, expected) => {
    expect(outcomeOf(rows, true)).toMatchObject(expected)
  })

  it('counts work that did not reach the owner, accepted or not, as inconclusive', () => {
    expect(outcomeOf([accepted], true, { gates: [], missed: [], withheld: ['x'] })).toMatchObject({ outcome: 'inconclusive', exitCode: 3 })
  })
})
