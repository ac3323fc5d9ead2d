import { describe, expect, it } from 'vitest'
import { rational } from '../score/exact.ts'
import { scoreOf } from '../score/score.ts'
import { thresholdOf, type WeighedInput } from './threshold.ts'

const score = (n: number, d = 1) => scoreOf(rational(n, d))
const done = (on5: number, priority = 1): WeighedInput => ({ task: `m/${on5}`, status: 'done', flag: 'clean', score: score(on5), priority })
const unscored: WeighedInput = { task: 'm/u', status: 'done', flag: 'unreviewed', priority: 9 }
const failed: WeighedInput = { task: 'm/f', status: 'failed', score: score(1), priority: 9 }

describe("a mission's threshold", () => {
  it('is met by the priority-weighted average at the bar, exactly', () => {
    const result = thresholdOf('m', 4.5, [done(3), done(5, 3)])
    expect(result).toEqual({ kind: 'passed', data: { missionId: 'm', avgScore: score(9, 2), threshold: 4.5, unscored: 0 } })
  })

  it('is missed just below it, both scales shown', () => {
    const result = thresholdOf('m', 90, [done(3), done(4, 0.5), done(5, 3)])
    expect(result).toMatchObject({ kind: 'failed', data: { missionId: 'm', avgScore: score(40, 9), threshold: 90, unscored: 0 } })
    expect(result.data).toMatchObject({ reason: expect.stringMatching(/4\.44 \(88\.88\/100\).*4\.5 \(90\/100\)/) })
  })

  it('leaves out what has no score and what did not complete, and counts them beside it', () => {
    expect(thresholdOf('m', 4, [unscored, done(4), failed])).toMatchObject({ kind: 'passed', data: { avgScore: score(4), unscored: 2 } })
  })

  it('is missed as unscored where nothing completed was scored', () => {
    const data = { missionId: 'm', threshold: 0, unscored: 2, reason: 'unscored' }
    expect(thresholdOf('m', 0, [unscored, failed])).toEqual({ kind: 'failed', data })
    expect(thresholdOf('m', 0, [])).toEqual({ kind: 'failed', data: { ...data, unscored: 0 } })
  })
})
