import { afterEach, describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { AppendRequest, AppendResult, Journal } from '../../ports/journal.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { checks, opine, start, submit } from '../../testing/task/steps.ts'
import { fiveAgents, specWith, twoBrains } from '../../testing/task/world.ts'
import { TaskStore } from './task-store.ts'

const config = { brains: twoBrains, agents: fiveAgents, review: { panel: { size: 3, mode: 'full' } } }
const task = 'mission/task'
const options = { actor: 'test' }

/** A disk that is as slow as the test wants: appends wait for `flush`, and reach the journal in the order in which they came. */
function slowDisk(journal: Journal) {
  const waiting: { request: AppendRequest; answer: (result: Promise<AppendResult>) => void }[] = []
  const gate = { open: true, appends: 0 }
  const append = (request: AppendRequest): Promise<AppendResult> => {
    gate.appends += 1
    return gate.open ? journal.append(request) : new Promise((answer) => waiting.push({ request, answer }))
  }
  const flush = async (broken?: Error) => {
    for (const { request, answer } of waiting.splice(0)) answer(broken ? Promise.reject(broken) : journal.append(request))
    await settled()
  }
  return {
    gate,
    waiting,
    flush,
    journal: new Proxy(journal, { get: (target, name) => (name === 'append' ? append : bound(target, name)) }),
  }
}

function bound(target: Journal, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name)
  return typeof member === 'function' ? member.bind(target) : member
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

/** A task whose three judges have been asked, on a disk that has stopped taking anything. */
async function inReview() {
  const shop = openWorkshop({ config, brains: {} })
  open.push(shop)
  const disk = slowDisk(shop.parts.journal)
  const store = new TaskStore({ ...shop.parts, journal: disk.journal })
  const step = async (command: TaskCommand) => {
    const handled = await store.handle(task, command, options)
    if (!handled.ok) throw new Error(handled.error.message)
    return handled.state
  }
  await step({ type: 'create_task', spec: specWith() })
  await step(start())
  const submitted = await step(submit((await store.load(task)).state ?? unreachable(), 'hello'))
  const state = await step(checks(submitted))
  disk.gate.open = false
  disk.gate.appends = 0
  return { store, state, disk, shop }
}

function unreachable(): never {
  throw new Error('there is no task')
}

describe('the task store', () => {
  it('decides commands that come together one upon the other, and writes each once', async () => {
    const { store, state, disk, shop } = await inReview()
    const verdicts = [1, 2, 3].map((seat) => store.handle(task, opine(state, seat, { accept: true }), options))
    expect(disk.waiting).toHaveLength(1)
    disk.gate.open = true
    await disk.flush()
    const [, , last] = await Promise.all(verdicts)
    expect(disk.gate.appends).toBe(3)
    expect(last).toMatchObject({ ok: true, state: { status: 'done', done: { flag: 'clean' } } })
    const types = (await shop.parts.journal.readStream(`task/${task}`)).map((event) => event.type)
    expect(types.slice(-5)).toEqual(['verdict.recorded', 'verdict.recorded', 'verdict.recorded', 'review.decided', 'task.accepted'])
  })

  it('shows nobody a state that is not durable', async () => {
    const { store, state, disk } = await inReview()
    const verdict = store.handle(task, opine(state, 1, { accept: true }), options)
    expect((await store.load(task)).state?.panel?.seats[0]?.status).toBe('asked')
    await disk.flush()
    await verdict
    expect((await store.load(task)).state?.panel?.seats[0]?.status).toBe('graded')
  })

  it('refuses a repeated answer only once the first is durable', async () => {
    const { store, state, disk } = await inReview()
    const first = store.handle(task, opine(state, 1, { accept: true }), options)
    let answered = false
    const second = store.handle(task, opine(state, 1, { accept: false }), options).finally(() => {
      answered = true
    })
    await settled()
    expect(answered).toBe(false)
    await disk.flush()
    expect(await first).toMatchObject({ ok: true })
    expect(await second).toMatchObject({ ok: false, error: { code: 'stale_seat' } })
    expect(disk.gate.appends).toBe(1)
  })

  it('decides anew when another process was first', async () => {
    const { store, state, disk, shop } = await inReview()
    const ours = [1, 2].map((seat) => store.handle(task, opine(state, seat, { accept: true }), options))
    const other = new TaskStore(shop.parts)
    expect(await other.handle(task, opine(state, 3, { accept: true }), options)).toMatchObject({ ok: true })
    disk.gate.open = true
    await disk.flush()
    expect(await Promise.all(ours)).toMatchObject([{ ok: true }, { ok: true, state: { status: 'done' } }])
    expect((await shop.engine.verify()).breaks).toEqual([])
  })

  it('lets the second command through when the first lost its lease', async () => {
    const { store, state, disk } = await inReview()
    const lost = { key: 'gone', owner: 'nobody', fence: 1, kind: 'ask_judge', payload: {}, claims: 1, postponed: 0, until: 0 }
    const first = store.handle(task, opine(state, 1, { accept: true }), { ...options, settles: lost })
    const second = store.handle(task, opine(state, 2, { accept: true }), options)
    disk.gate.open = true
    await disk.flush()
    expect(await first).toMatchObject({ ok: false, error: { code: 'lease_lost' } })
    expect(await second).toMatchObject({ ok: true })
    expect((await store.load(task)).state?.panel?.seats.map((seat) => seat.status)).toEqual(['asked', 'graded', 'asked'])
  })

  it('holds one task for its owner where deciding about it meets a defect, and completes the work', async () => {
    const { state, disk, shop } = await inReview()
    disk.gate.open = true
    const { rules } = shop.parts
    let met = 0
    const review = new Proxy(rules.policy.review, {
      get: (target, name) => {
        if (name !== 'panel') return Reflect.get(target, name)
        met += 1
        throw new TypeError('panel is not what it was')
      },
    })
    const store = new TaskStore({ ...shop.parts, rules: { ...rules, policy: { ...rules.policy, review } } })
    const [lease] = await shop.parts.journal.claim({ owner: 'me', kinds: ['ask_judge'], limit: 1, leaseMs: 60_000 })
    if (!lease) throw new Error('no work was queued')
    const queued = (await shop.parts.journal.workCount()).leased
    const handled = await store.handle(task, opine(state, 1, { accept: true }), { ...options, settles: lease })
    expect(met).toBe(1)
    expect(handled).toMatchObject({ ok: true, state: { status: 'held', hold: { reason: 'operator' } } })
    expect(handled.ok && handled.state.hold?.detail).toContain('could not decide record_reply (TypeError: panel is not what it was)')
    expect((await shop.parts.journal.workCount()).leased).toBe(queued - 1)
  })

  it('tells the caller of a defect where no work would bring it back', async () => {
    const { state, shop } = await inReview()
    const broken = new Proxy(shop.parts.rules, {
      get: (target, name) => {
        if (name === 'policy') throw new TypeError('no policy')
        return Reflect.get(target, name)
      },
    })
    const store = new TaskStore({ ...shop.parts, rules: broken })
    await expect(store.handle(task, opine(state, 1, { accept: true }), options)).rejects.toThrow('no policy')
  })

  it('acknowledges nothing when the disk fails, and goes on from what is there', async () => {
    const { store, state, disk } = await inReview()
    const ends = Promise.allSettled([1, 2].map((seat) => store.handle(task, opine(state, seat, { accept: true }), options)))
    await disk.flush(new Error('no space'))
    await disk.flush(new Error('no space'))
    expect((await ends).map((end) => end.status)).toEqual(['rejected', 'rejected'])
    disk.gate.open = true
    expect(await store.handle(task, opine(state, 1, { accept: true }), options)).toMatchObject({ ok: true })
  })
})
