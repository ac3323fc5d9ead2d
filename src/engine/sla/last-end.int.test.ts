import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import type { Journal } from '../../ports/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { dyingAfter } from '../../testing/engine/dying.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { metricsOf } from '../views/metrics.ts'
import { engineViews } from '../views/tasks.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { maxAttempts: 1, panel: { size: 1, quorum: 1 } },
  sla: { checkIntervalMs: 100 },
  notify: {
    channels: { slow: { kind: 'webhook', url: 'http://127.0.0.1:9/' } },
    rules: [{ events: ['task.accepted'], channels: ['slow'] }],
  },
}

/** A mission of one task with a deadline of 9 seconds, on a clock that the test moves. */
function stage({ review = {}, score = 90, journal, sla = {} }: { review?: object; score?: number; journal?: Journal; sla?: object } = {}) {
  let now = Date.parse('2026-03-01T00:00:00Z')
  const clock = { now: () => now, wall: () => now }
  const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(() => `SCORE: ${score}`) }
  const written = { ...config, review: { ...config.review, ...review }, sla: { ...config.sla, ...sla } }
  const shop = openWorkshop({ config: written, brains, clock, ...(journal && { journal }) })
  onTestFinished(shop.remove)
  const { engine, parts } = shop
  const tasks = [specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false, deadline: '9s' })]
  return {
    ...shop,
    start: (more: object = {}) => engine.start({ id: 'plan', name: 'Plan', tasks, deadline: '9s', ...more }),
    run: () => engine.run({ missions: ['plan-1'], stop: new AbortController().signal }),
    pass: (ms: number) => {
      now += ms
    },
    said: async (entity: string) => (await parts.journal.readStream(`sla/${entity}`)).map(({ type }) => type),
    counted: async () => (await metricsOf(parts.journal)).find(({ kind }) => kind === 'mission'),
  }
}

const metOnce = { deadlinesMet: 2, deadlinesMissed: 0 }

describe('the deadline of a mission', () => {
  it('counts to the end of its last task, however long a channel takes to answer', async () => {
    const scene = stage()
    let asked = 0
    scene.parts.openNotifier = async () => ({
      send: async () => {
        asked += 1
        scene.pass(60_000)
        // The deadlines are looked at meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 400))
        return { ok: true }
      },
    })
    await scene.start()
    await scene.run()
    expect(asked).toBe(1)
    expect(await scene.said('mission:plan-1')).toEqual(['sla.met'])
    expect(await scene.counted()).toMatchObject(metOnce)
  })

  it('is met where a process died between the last task and the end of the mission, and another comes much later', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const first = dyingAfter(journal, 'task.accepted')
    const dead = stage({ journal: first.journal })
    await dead.start()
    void dead.run()
    await first.died
    const next = stage({ journal })
    next.pass(60_000)
    await next.engine.deadlines.look()
    expect(await next.said('mission:plan-1')).toEqual([])
    await next.run()
    expect(await next.said('mission:plan-1')).toEqual(['sla.met'])
  })

  it('is met where the owner accepts in time and a run notices that later', async () => {
    const scene = stage({ review: { onExhausted: 'escalate' }, score: 20 })
    await scene.start()
    await scene.run()
    scene.pass(2_000)
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await scene.engine.answer({ request, answer: 'accept', by: 'owner', reason: 'good enough' })).toMatchObject({ ok: true })
    scene.pass(9_000)
    await scene.run()
    expect(await scene.said('task:plan-1/a')).toEqual(['sla.met'])
    expect(await scene.said('mission:plan-1')).toEqual(['sla.met'])
  })

  it('is missed where the owner accepts too late, whenever that is noticed', async () => {
    const scene = stage({ review: { onExhausted: 'escalate' }, score: 20 })
    await scene.start()
    await scene.run()
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    scene.pass(10_000)
    expect(await scene.engine.answer({ request, answer: 'accept', by: 'owner', reason: 'good enough' })).toMatchObject({ ok: true })
    await scene.run()
    const violated = (await scene.parts.journal.readStream('sla/mission:plan-1')).filter(({ type }) => type === 'sla.violated')
    expect(violated.map(({ data }) => (data as { overdueMs: number }).overdueMs)).toEqual([1_000])
  })

  it.each(['threshold', 'gate'])('is met where all that it had failed for is a %s, and the owner waives that', async (what) => {
    const scene = stage({ score: 70 })
    const gate = { name: 'last', afterTasks: ['plan/a'], blocksTasks: [], minScore: 80, requireAllPassed: true, notifyChannels: [] }
    await scene.start(what === 'gate' ? { gates: [gate] } : { qualityThreshold: 80 })
    expect(await scene.run()).toMatchObject({ exitCode: 1 })
    expect(await scene.said('mission:plan-1')).toEqual([])
    scene.pass(2_000)
    const order = { by: 'owner', reason: 'good enough' }
    const [request] = await scene.engine.requests()
    const waived = request ? scene.engine.answer({ request, answer: 'waive', ...order }) : scene.engine.waiveThreshold('plan-1', order)
    expect(await waived).toMatchObject({ ok: true })
    expect(await scene.said('mission:plan-1')).toEqual(['sla.met'])
    expect(await scene.counted()).toMatchObject(metOnce)
    expect(await scene.engine.missions()).toMatchObject([{ outcome: 'clean' }])
    expect(await scene.run()).toMatchObject({ exitCode: 0 })
    expect(await scene.said('mission:plan-1')).toEqual(['sla.met'])
  })

  it('is missed where the owner lets a gate pass too late', async () => {
    const scene = stage({ score: 70 })
    const gate = { name: 'last', afterTasks: ['plan/a'], blocksTasks: [], minScore: 80, requireAllPassed: true, notifyChannels: [] }
    await scene.start({ gates: [gate] })
    await scene.run()
    scene.pass(10_000)
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    await scene.engine.answer({ request, answer: 'waive', by: 'owner', reason: 'good enough' })
    expect(await scene.said('mission:plan-1')).toEqual(['sla.violated'])
  })
})
