import { describe, expect, it } from 'vitest'
import type { TaskState } from '../../core/task/state.ts'
import { stageMission } from '../../testing/engine/gated-mission.ts'
import { lives } from '../../testing/task/lives.ts'
import { EndedTasks } from './ended.ts'
import { TaskStore } from './task-store.ts'

/** A store over the journal of a finished run, and how many streams it has read. */
async function finished() {
  const scene = await stageMission({ tasks: { a: {} } })
  await scene.run()
  const read: string[] = []
  const { journal } = scene.parts
  const counting = new Proxy(journal, {
    get: (target, name: keyof typeof journal) => {
      const member = target[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (name === 'readStream') read.push(String(args[0]))
        return member.apply(target, args)
      }
    },
  })
  return { ...scene, read, store: new TaskStore({ ...scene.parts, journal: counting }) }
}

describe('a task that is done', () => {
  it('is read once, however often others ask for it', async () => {
    const { store, read } = await finished()
    const first = await store.ended('plan-1/a')
    expect(first).toMatchObject({ input: { task: 'plan-1/a', flag: 'clean', prefix: '' }, spec: { title: 'a' } })
    expect(first?.content?.digest).toBe(first?.input.digest)
    expect(first?.version).toBe((await store.load('plan-1/a')).version)
    read.length = 0
    expect(await store.ended('plan-1/a')).toEqual(first)
    expect(read).toEqual([])
  })

  it('is not given where another process has opened it again', async () => {
    const { store, reopen } = await finished()
    expect(await store.ended('plan-1/a')).toBeDefined()
    expect(await reopen('a')).toMatchObject({ ok: true })
    expect(await store.ended('plan-1/a')).toBeUndefined()
    expect(await store.ended('plan-1/ghost')).toBeUndefined()
  })
})

describe('tasks that are kept', () => {
  const done = (output: string): TaskState => {
    const { state } = lives['done: clean']()
    const digest = state.done?.content ?? ''
    const content = state.contents[digest]
    if (!content) throw new Error('nothing was handed in')
    return { ...state, contents: { [digest]: { ...content, output } } }
  }

  it('are those of the version that is asked for, and done', () => {
    const kept = new EndedTasks()
    kept.see('a', done('x'), 7)
    expect([kept.get('a', 7)?.content?.output, kept.get('a', 8)]).toEqual(['x', undefined])
    kept.see('a', lives.todo().state, 8)
    expect([kept.get('a', 7), kept.get('a', 8)]).toEqual([undefined, undefined])
  })

  it('are bounded in weight: the oldest go, and one that is too heavy for all is not kept', () => {
    const kept = new EndedTasks()
    const megabytes = (count: number) => done('x'.repeat(count * 1024 * 1024))
    for (const name of ['a', 'b', 'c']) kept.see(name, megabytes(4), 1)
    expect(['a', 'b', 'c'].map((name) => kept.get(name, 1) !== undefined)).toEqual([false, true, true])
    kept.see('d', megabytes(12), 1)
    expect(['b', 'c', 'd'].map((name) => kept.get(name, 1) !== undefined)).toEqual([false, false, false])
    kept.see('e', done('x'), 1)
    expect(kept.get('e', 1)).toBeDefined()
  })
})
