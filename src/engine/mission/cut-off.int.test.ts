import { afterEach, describe, expect, it } from 'vitest'
import type { GateSpec } from '../../contract/events/gate.ts'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import type { Journal } from '../../ports/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { answerRequest, openRequests } from '../requests.ts'
import { TaskStore } from '../task/task-store.ts'
import { engineViews } from '../views/tasks.ts'

const stop = new AbortController().signal
const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: {
    dev: { role: 'engineer', brain: 'hands' },
    dev2: { role: 'engineer', brain: 'hands', instructions: 'x' },
    qa: { role: 'reviewer', brain: 'eyes' },
  },
  review: { panel: { size: 1, quorum: 1 } },
}
const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})
const task = (title: string, more: object = {}) => specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', ...more })

function workshop(score: (title: string, attempt: number) => number, more: object = {}, journal?: Journal, folder?: string) {
  const shop = openWorkshop({
    config: { ...config, ...more },
    brains: {
      hands: handsOf(({ task: { title }, attempt }) => `${title} ${attempt}`),
      eyes: eyesOf(({ task: { title }, attempt }) => `Hm.\nSCORE: ${score(title, attempt)}`),
    },
    ...(journal && { journal }),
    ...(folder !== undefined && { folder }),
  })
  open.push(shop)
  return shop
}

const gate: GateSpec = {
  name: 'review',
  afterTasks: ['plan/build'],
  blocksTasks: ['plan/ship'],
  minScore: 4,
  requireAllPassed: true,
  notifyChannels: [],
}
const gated = {
  id: 'plan',
  name: 'Plan',
  tasks: [task('build'), task('ship', { dependsOn: ['plan/build'], gates: ['review'] })],
  gates: [gate],
}

describe('an answer to a gate', () => {
  it.each(['retry', 'waive'] as const)('takes effect although the process ended right after %s was recorded', async (answer) => {
    const { engine, parts } = workshop((title, attempt) => (title === 'build' && attempt === 1 ? 60 : 90))
    await engine.start(gated)
    await engine.run({ missions: ['plan-1'], stop })
    const [request] = await openRequests(parts, new TaskStore(parts))
    if (!request) throw new Error('nothing is asked')
    // The answer is recorded, and whatever would follow in this process does not.
    const answered = await answerRequest(parts, new TaskStore(parts), { request, answer, by: 'owner', reason: 'because' })
    expect(answered.ok).toBe(true)
    const end = await engine.run({ missions: ['plan-1'], stop })
    expect(end.rows.map(({ status }) => status)).toEqual(['done', 'done'])
    expect((await engine.task('plan-1/build'))?.attempts).toBe(answer === 'retry' ? 2 : 1)
  })

  it('is refused under another policy than the run’s, and still waits then', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const first = workshop(() => 60, {}, journal)
    await first.engine.start(gated)
    await first.engine.run({ missions: ['plan-1'], stop })
    const second = workshop(() => 60, { review: { threshold: 61, panel: { size: 1, quorum: 1 } } }, journal, first.folder)
    const [request] = await second.engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await second.engine.answer({ request, answer: 'waive', by: 'owner', reason: 'r' })).toMatchObject({
      ok: false,
      error: { code: 'policy_changed' },
    })
    expect(await first.engine.requests()).toHaveLength(1)
  })
})

describe('tasks added to a run', () => {
  it.each([1, 2])('run in the end although the process ended after %s of the appends', async (appends) => {
    const journal = openMemoryJournal({ views: engineViews })
    let left = Number.POSITIVE_INFINITY
    const cut: Journal = new Proxy(journal, {
      get: (target, key) => {
        const member = target[key as keyof Journal] as (...args: never[]) => unknown
        if (key === 'append') return (request: never) => (left-- > 0 ? target.append(request) : Promise.reject(new Error('killed')))
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const { engine, folder } = workshop(() => 90, {}, cut)
    await engine.start({ id: 'plan', name: 'Plan', tasks: [task('first')] })
    await engine.run({ missions: ['plan-1'], stop })
    left = appends
    const late = { ...task('second', { dependsOn: ['plan-1/first'] }), id: 'plan-1/second', mission: 'plan-1' }
    const adding = engine.extend({ mission: 'plan-1', key: 'k', tasks: [late], by: 'owner' })
    if (appends === 1) await expect(adding).rejects.toThrow('killed')
    else await adding
    const after = workshop(() => 90, {}, journal, folder)
    const end = await after.engine.run({ missions: ['plan-1'], stop })
    expect(end.counts).toMatchObject({ clean: 2 })
  })
})

describe('a changed policy', () => {
  it('takes over all of a run or nothing of it, and leaves what the mission file says of a task', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const escalate = { panel: { size: 1, quorum: 1 }, onExhausted: 'escalate', maxAttempts: 1 }
    const first = workshop(() => 40, { review: escalate }, journal)
    await first.engine.start({ id: 'plan', name: 'Plan', tasks: [task('a', { own: ['bar'] }), task('b', { assignee: 'dev2' })] })
    await first.engine.run({ missions: ['plan-1'], stop })
    const { dev, qa } = config.agents
    const without = workshop(() => 40, { review: { ...escalate, threshold: 30 }, agents: { dev, qa } }, journal, first.folder)
    expect(await without.engine.acceptPolicy('plan-1', 'owner')).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('dev2') },
    })
    expect((await first.engine.task('plan-1/a'))?.spec.bar).toBe(60)
    const lower = workshop(() => 40, { review: { ...escalate, threshold: 30 } }, journal, first.folder)
    expect(await lower.engine.acceptPolicy('plan-1', 'owner')).toEqual({ ok: true, value: 2 })
    expect((await lower.engine.task('plan-1/a'))?.spec.bar).toBe(60)
    expect((await lower.engine.task('plan-1/b'))?.spec.bar).toBe(30)
  })

  it('does not take over while somebody is at work', async () => {
    const { engine, parts } = workshop(() => 90)
    await engine.start({ id: 'plan', name: 'Plan', tasks: [task('a')] })
    const [lease] = await parts.journal.claim({ owner: 'another', scopes: ['plan-1'], limit: 1, leaseMs: 60_000 })
    expect(lease).toBeDefined()
    expect(await engine.acceptPolicy('plan-1', 'owner')).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('at work') },
    })
  })
})
