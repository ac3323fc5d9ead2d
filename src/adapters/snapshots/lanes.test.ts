import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openLanes } from './lanes.ts'

describe('lanes', () => {
  it('run all jobs, never more than so many at once', async () => {
    const lanes = openLanes(3)
    let running = 0
    let most = 0
    let done = 0
    for (let n = 0; n < 20; n++) {
      await lanes.add(async () => {
        running += 1
        most = Math.max(most, running)
        await delay(1)
        running -= 1
        done += 1
      })
    }
    await lanes.drain()
    expect({ most, done, running }).toEqual({ most: 3, done: 20, running: 0 })
  })

  it('keep the first failure, start nothing after it, and wait for what is under way', async () => {
    const lanes = openLanes(2)
    let finished = false
    await lanes.add(async () => {
      await delay(5)
      finished = true
    })
    await lanes.add(async () => {
      throw new Error('first')
    })
    await expect(lanes.add(async () => undefined)).rejects.toThrow('first')
    await expect(lanes.drain()).rejects.toThrow('first')
    expect(finished).toBe(true)
    await expect(lanes.settle()).resolves.toBeUndefined()
  })
})
