import { describe, expect, it } from 'vitest'
import { Lane } from './lanes.ts'

describe('Lane', () => {
  it('never gives out more room than there is, and wakes whoever found none', () => {
    const lane = new Lane(['run_attempt'], 3, true)
    const woken: string[] = []
    expect(lane.take(() => woken.push('one'))).toBe(3)
    expect(lane.take(() => woken.push('two'))).toBe(0)
    lane.giveBack(0)
    expect(woken).toEqual([])
    lane.giveBack(2)
    expect(woken).toEqual(['two'])
    expect(lane.take(() => woken.push('two'))).toBe(2)
    lane.giveBack(3)
    expect(lane.take(() => woken.push('one'))).toBe(3)
    expect(woken).toEqual(['two'])
  })
})
