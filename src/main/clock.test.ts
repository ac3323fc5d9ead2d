import { describe, expect, it } from 'vitest'
import { processClock } from './clock.ts'

function sources() {
  const at = { wall: 1_000_000, steady: 50, sinceBoot: 7_000_000 }
  return {
    at,
    pass: (ms: number) => {
      at.wall += ms
      at.steady += ms
      at.sinceBoot += ms
    },
    sleep: (ms: number) => {
      at.wall += ms
      at.sinceBoot += ms
    },
    sources: { wall: () => at.wall, steady: () => at.steady, sinceBoot: () => Math.floor(at.sinceBoot / 1000) * 1000 },
  }
}

describe('the clock of a process', () => {
  it.each([3_600_000, -3_600_000])('is not moved by a wall clock that is set by %i ms', (by) => {
    const time = sources()
    const clock = processClock(time.sources)
    time.pass(10)
    time.at.wall += by
    time.pass(20)
    expect(clock.now()).toBe(1_000_030)
    expect(clock.wall()).toBe(1_000_030 + by)
  })

  it('counts the time in which the machine slept, once', () => {
    const time = sources()
    const clock = processClock(time.sources)
    time.pass(400)
    time.sleep(8 * 3_600_000)
    time.pass(1_600)
    const now = clock.now()
    expect(Math.abs(now - time.at.wall)).toBeLessThanOrEqual(1000)
    for (let seconds = 0; seconds < 30; seconds += 1) time.pass(1_000)
    expect(clock.now()).toBe(now + 30_000)
  })

  it('never goes back, however coarse the machine tells how long it has been on', () => {
    const time = sources()
    const clock = processClock(time.sources)
    let last = clock.now()
    for (let step = 0; step < 500; step += 1) {
      time.pass(137)
      const now = clock.now()
      expect(now - last).toBe(137)
      last = now
    }
  })
})
