import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readPlan, readProject } from '../../engine/project.ts'
import { Engine } from '../../engine/engine.ts'
import type { BrainPort } from '../../ports/brain.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { keepRunning } from './keep-running.ts'

const config = {
  brains: { hands: { kind: 'command', argv: ['x'] }, eyes: { kind: 'command', argv: ['x'] }, out: { kind: 'outside' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, ext: { role: 'engineer', brain: 'out' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
  concurrency: 1,
}

async function start(engine: Engine, name: string, assignTo: string, more: object = {}): Promise<string> {
  const project = readProject({ text: JSON.stringify(config), file: 'assay.yaml', env: {}, flags: {} })
  if (!project.ok) throw new Error('the configuration does not load')
  const tasks = ['a', 'b', 'c'].map((title) => ({ title, assignTo, description: 'Do it.', ...more }))
  const plan = readPlan({ text: JSON.stringify({ name, tasks }), file: 'm.json' }, project.value)
  if (!plan.ok) throw new Error(JSON.stringify(plan.error))
  const started = await engine.start(plan.value.plan)
  if (!started.ok) throw new Error(started.error.message)
  return started.value.mission
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries > 3000) throw new Error('waited in vain')
    await sleep(20)
  }
}

/** A worker that counts how many of it are at work at once. */
function counting(): { brain: BrainPort; most: () => number; turns: () => number } {
  let [now, most, turns] = [0, 0, 0]
  const brain: BrainPort = {
    ...handsOf(() => ''),
    work: async () => {
      now += 1
      turns += 1
      most = Math.max(most, now)
      await sleep(30)
      now -= 1
      return { kind: 'finished', raw: null, output: 'done', sandboxed: false }
    },
  }
  return { brain, most: () => most, turns: () => turns }
}

function workshop(hands: BrainPort): { engine: Engine; stop: AbortController } {
  const { engine, remove } = openWorkshop({ config, brains: { hands, eyes: eyesOf(() => 'SCORE: 80'), out: handsOf(() => '') } })
  onTestFinished(async () => {
    await engine.close()
    remove()
  })
  return { engine, stop: new AbortController() }
}

const isFinished = async (engine: Engine, id: string) =>
  (await engine.missions()).some((row) => row.id === id && row.finished !== undefined)

describe('keepRunning', () => {
  it('takes missions as they come, all of them within one bound', { timeout: 90_000 }, async () => {
    const hands = counting()
    const { engine, stop } = workshop(hands.brain)
    const before = await start(engine, 'Before', 'dev')
    const keeper = keepRunning(engine, stop.signal, () => {})
    const later = await Promise.all(['One', 'Two'].map((name) => start(engine, name, 'dev')))
    for (const id of [before, ...later]) await until(() => isFinished(engine, id))
    expect([hands.turns(), hands.most()]).toEqual([9, 1])
    await until(async () => keeper.state().running.length === 0)
    stop.abort()
    await keeper.ended
  })

  it('rests where only somebody outside can go on, and works again once they have', { timeout: 90_000 }, async () => {
    const { engine, stop } = workshop(counting().brain)
    const mission = await start(engine, 'Out', 'ext')
    const keeper = keepRunning(engine, stop.signal, () => {})
    for (const name of ['a', 'b', 'c']) {
      const task = `${mission}/${name}`
      await until(async () => keeper.state().running.length === 0 && (await engine.task(task))?.status === 'todo')
      const taken = await engine.outside.take(task, 'ext')
      expect(taken.ok).toBe(true)
      const raw = JSON.stringify({ summary: 'done', ac_coverage: [] })
      expect(await engine.outside.submit({ task, worker: 'ext', attempt: 1, raw, output: 'work' })).toEqual({
        ok: true,
        value: { problems: [] },
      })
      await until(async () => (await engine.task(task))?.status === 'done')
    }
    await until(() => isFinished(engine, mission))
    stop.abort()
    await keeper.ended
  })

  it('looks at deadlines also while every mission rests', { timeout: 90_000 }, async () => {
    const { engine, stop } = workshop(counting().brain)
    const mission = await start(engine, 'Out', 'ext', { deadline: '2s' })
    const keeper = keepRunning(engine, stop.signal, () => {})
    await until(async () => keeper.state().running.length === 0 && (await engine.task(`${mission}/a`))?.status === 'todo')
    const violated = async () =>
      (await engine.parts.journal.readStream(`sla/task:${mission}/a`)).filter(({ type }) => type === 'sla.violated')
    await until(async () => (await violated()).length === 1)
    expect(keeper.state().running).toEqual([])
    stop.abort()
    await keeper.ended
  })

  it('leaves a mission of another policy alone until the owner lets the new one take over', { timeout: 90_000 }, async () => {
    const hands = counting()
    const { engine: old } = workshop(hands.brain)
    const mission = await start(old, 'Old', 'dev')
    const { journal, snapshots } = old.parts
    const written = { ...config, review: { ...config.review, threshold: 70 } }
    const { parts, remove } = openWorkshop({
      config: written,
      brains: { hands: hands.brain, eyes: eyesOf(() => 'SCORE: 80'), out: handsOf(() => '') },
      journal,
    })
    onTestFinished(remove)
    const engine = new Engine({ ...parts, snapshots })
    const stop = new AbortController()
    const keeper = keepRunning(engine, stop.signal, () => {})
    await until(async () => keeper.state().otherPolicy.includes(mission))
    expect(hands.turns()).toBe(0)
    expect((await engine.acceptPolicy(mission, 'olga')).ok).toBe(true)
    await until(() => isFinished(engine, mission))
    expect(keeper.state().otherPolicy).toEqual([])
    stop.abort()
    await keeper.ended
  })
})
