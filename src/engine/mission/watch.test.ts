import { afterEach, describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { Journal } from '../../ports/journal.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { fiveAgents, specWith, twoBrains } from '../../testing/task/world.ts'
import { TaskStore } from '../task/task-store.ts'
import { Watch } from './watch.ts'

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

/** A watch on one mission, what it reported, and a store that appends to the same journal. */
async function watching() {
  const shop = openWorkshop({ config: { brains: twoBrains, agents: fiveAgents }, brains: {} })
  open.push(shop)
  const { journal } = shop.parts
  const seen: StoredEvent[] = []
  const watch = new Watch(journal, ['mission'], (event) => seen.push(event))
  await watch.begin()
  const store = new TaskStore(shop.parts)
  const create = async (name: string) => {
    const appended: StoredEvent[] = []
    const stop = store.listen((events) => appended.push(...events))
    await store.handle(
      `mission/${name}`,
      { type: 'create_task', spec: specWith({ id: `mission/${name}`, mission: 'mission' }) },
      { actor: 'test' },
    )
    stop()
    return appended
  }
  return { watch, journal, seen, create, positions: () => seen.map((event) => event.position) }
}

function countingReads(journal: Journal): () => number {
  let events = 0
  const read = journal.read.bind(journal)
  journal.read = async (after, limit) => {
    const found = await read(after, limit)
    events += found.length
    return found
  }
  return () => events
}

describe('a watch', () => {
  it('takes in what this process appended without reading it again', async () => {
    const { watch, journal, create, positions } = await watching()
    const reads = countingReads(journal)
    watch.offer(await create('a'))
    watch.offer(await create('b'))
    await watch.catchUp()
    expect(reads()).toBe(0)
    expect(positions()).toEqual([1, 2, 3, 4])
    expect([...watch.rows.values()].map((row) => row.status)).toEqual(['todo', 'todo'])
  })

  it('leaves what comes after a gap to the next reading, so that everything is reported once and in order', async () => {
    const { watch, create, positions } = await watching()
    await create('a')
    watch.offer(await create('b'))
    expect(positions()).toEqual([])
    await watch.catchUp()
    expect(positions()).toEqual([1, 2, 3, 4])
  })

  it('takes no event in twice when readings overlap', async () => {
    const { watch, create, positions } = await watching()
    const appended = await create('a')
    const readings = [watch.catchUp(), watch.catchUp()]
    watch.offer(appended)
    await Promise.all(readings)
    expect(positions()).toEqual([1, 2])
  })

  it('is active as long as one of its tasks is', async () => {
    const { watch, journal, create } = await watching()
    expect(watch.active).toBe(false)
    watch.offer(await create('a'))
    watch.offer(await create('b'))
    expect(watch.active).toBe(true)
    const end = async (name: string) => {
      const stream = `task/mission/${name}`
      const event = { type: 'task.failed', v: 1, data: { reason: 'the end' } }
      const streams = [{ stream, expected: await journal.head(stream), events: [event] }]
      await journal.append({ streams, meta: { at: new Date(0).toISOString(), actor: 'test' } })
      await watch.catchUp()
    }
    await end('a')
    expect(watch.active).toBe(true)
    await end('b')
    expect(watch.active).toBe(false)
  })
})
