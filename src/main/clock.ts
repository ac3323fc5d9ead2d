import { uptime } from 'node:os'
import type { Clock } from '../ports/clock.ts'

/** Where time comes from, all in milliseconds. */
export interface TimeSources {
  wall(): number
  /** Never goes back, and stands still while the machine sleeps. */
  steady(): number
  /** Since the machine was started, sleep included; may be as coarse as a second. */
  sinceBoot(): number
}

const system: TimeSources = { wall: () => Date.now(), steady: () => performance.now(), sinceBoot: () => uptime() * 1000 }

/** How often sleep is looked for, and from which length on it counts: what is shorter may come from how coarse a source is. */
const lookMs = 1000
const leastSleepMs = 2500

/**
 * The clock of a process: the wall clock at its beginning, and the time that has passed since, with that in which the machine slept. Times of
 * events of one process therefore never jump, and what lies between two of them has passed.
 */
export function processClock(sources: TimeSources = system): Clock {
  const begun = { wall: sources.wall(), steady: sources.steady(), sinceBoot: sources.sinceBoot() }
  let slept = 0
  let lookedAt = begun.steady
  return {
    wall: () => sources.wall(),
    now: () => {
      const steady = sources.steady()
      const elapsed = steady - begun.steady
      if (steady - lookedAt >= lookMs) {
        lookedAt = steady
        const asleep = sources.sinceBoot() - begun.sinceBoot - elapsed
        if (asleep > slept + leastSleepMs) slept = asleep
      }
      return begun.wall + elapsed + slept
    },
  }
}
