import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Scene, stageMission } from '../../testing/engine/gated-mission.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { NewWork } from '../../contract/work.ts'
import { missionStream, taskStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import { retryMission } from './retry.ts'

type Staged = Awaited<ReturnType<typeof stageMission>>
const said = { by: 'owner', reason: 'again' }

/** What a task was given of another when it last became ready, and what that is accepted with now. */
async function givenAndCurrent({ engine }: Staged, title: string, on: string) {
  const given = (await engine.task(`plan-1/${title}`))?.inputs.find(({ task }) => task === `plan-1/${on}`)?.digest
  return { given, current: (await engine.task(`plan-1/${on}`))?.done?.content }
}

async function expectCurrent(scene: Staged, ...edges: [string, string][]) {
  for (const [title, on] of edges) {
    const { given, current } = await givenAndCurrent(scene, title, on)
    expect(current, on).toBeDefined()
    expect(given, `${title} on ${on}`).toBe(current)
  }
}

/** When attempts of a task began, and when another was accepted. */
async function expectStartedAfter(scene: Staged, title: string, on: string) {
  const started = (await scene.positions(`task/plan-1/${title}`, 'attempt.started')).at(-1)
  const accepted = (await scene.positions(`task/plan-1/${on}`, 'task.accepted')).at(-1)
  expect(started).toBeGreaterThan(accepted as number)
}

const chain: Scene['tasks'] = { c: { dependsOn: ['b'] }, b: { dependsOn: ['a'] }, a: {} }
const bFailsFirst: NonNullable<Scene['score']> = (title, attempt) => (title === 'b' && attempt === 1 ? 20 : 90)

describe('a task that is begun again begins on what its dependencies are accepted with now', () => {
  it('retried while its dependency is open again, it waits for that', async () => {
    const scene = await stageMission({ tasks: chain, score: bFailsFirst })
    expect((await scene.run()).counts).toEqual({ clean: 1, failed: 1, skipped: 1 })
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    expect(await retryMission(scene.engine, 'plan-1', said)).toMatchObject({ refused: [] })
    expect(await scene.statusOf('b')).toBe('waiting')
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect(await scene.attempts('a')).toBe(2)
    await expectStartedAfter(scene, 'b', 'a')
    await expectCurrent(scene, ['b', 'a'], ['c', 'b'])
  })

  it('retried after its dependency was done again, it is given that', async () => {
    const scene = await stageMission({ tasks: chain, score: bFailsFirst })
    await scene.run()
    await scene.overrule('a')
    await scene.run()
    expect(await scene.attempts('a')).toBe(2)
    await retryMission(scene.engine, 'plan-1', said)
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    await expectCurrent(scene, ['b', 'a'], ['c', 'b'])
  })

  it('by a gate that asks for more, too', async () => {
    const gates = [{ name: 'g', afterTasks: ['b'], blocksTasks: ['c'] }]
    const scene = await stageMission({ tasks: { c: { gates: ['g'] }, b: { dependsOn: ['a'] }, a: {} }, gates, score: bFailsFirst })
    await scene.run()
    await scene.overrule('a')
    expect(await scene.answer('g', 'retry')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    await expectStartedAfter(scene, 'b', 'a')
    await expectCurrent(scene, ['b', 'a'])
  })

  it('and knows how that was accepted', async () => {
    const score: NonNullable<Scene['score']> = (title, attempt) => (attempt === (title === 'b' ? 1 : title === 'a' ? 2 : 0) ? 20 : 90)
    const scene = await stageMission({ tasks: chain, score })
    await scene.run()
    await scene.overrule('a')
    await scene.run()
    expect(await scene.statusOf('a')).toBe('failed')
    await scene.engine.handle('plan-1/a', { type: 'overrule_task', outcome: 'pass', ...said }, 'owner')
    await retryMission(scene.engine, 'plan-1', said)
    expect((await scene.run()).counts).toEqual({ 'owner-accepted': 1, clean: 2 })
    await expectCurrent(scene, ['b', 'a'])
    expect((await scene.engine.task('plan-1/b'))?.inputs[0]?.flag).toBe('owner-accepted')
  })

  it('is skipped where its dependency fails this time, and is begun once that is done after all', async () => {
    const score: NonNullable<Scene['score']> = (title, attempt) => (attempt === (title === 'b' ? 1 : title === 'a' ? 2 : 0) ? 20 : 90)
    const scene = await stageMission({ tasks: chain, score })
    await scene.run()
    await scene.overrule('a')
    await retryMission(scene.engine, 'plan-1', said)
    expect((await scene.run()).counts).toEqual({ failed: 1, skipped: 2 })
    await scene.reopen('a')
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect([await scene.attempts('a'), await scene.attempts('b')]).toEqual([3, 2])
    await expectCurrent(scene, ['b', 'a'], ['c', 'b'])
  })

  it('overruled itself after the owner took it on old ground, it is done on the new one', async () => {
    const scene = await stageMission({ tasks: chain })
    await scene.run()
    await scene.overrule('a')
    const request = (await scene.engine.requests()).find(({ subject }) => subject === 'plan-1/b')
    if (!request) throw new Error('b asks nothing')
    expect(await scene.engine.answer({ request, answer: 'accept', ...said })).toMatchObject({ ok: true })
    await scene.run()
    const { given, current } = await givenAndCurrent(scene, 'b', 'a')
    expect(given).not.toBe(current)
    expect(await scene.overrule('b')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    await expectCurrent(scene, ['b', 'a'], ['c', 'b'])
    expect((await scene.engine.task('plan-1/b'))?.feedback).toBeUndefined()
  })

  it('sent back for one changed input, it is given the present state of all of them', async () => {
    const scene = await stageMission({ tasks: { b: { dependsOn: ['a', 'e'] }, a: {}, e: {} } })
    await scene.run()
    await scene.overrule('a')
    const request = (await scene.engine.requests()).find(({ subject }) => subject === 'plan-1/b')
    if (!request) throw new Error('b asks nothing')
    await scene.engine.answer({ request, answer: 'accept', ...said })
    await scene.overrule('e')
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    await expectCurrent(scene, ['b', 'a'], ['b', 'e'])
  })

  it('hands over what was made of it, by itself', async () => {
    const deliverable = { kind: 'text' } as never
    const scene = await stageMission({ tasks: { ...chain, c: { dependsOn: ['b'], deliverable } }, score: bFailsFirst })
    await scene.run()
    await scene.overrule('a')
    await retryMission(scene.engine, 'plan-1', said)
    expect(await scene.run()).toMatchObject({ exitCode: 0, withheld: [] })
    expect((await scene.engine.inbox()).filter(({ type, state }) => type === 'report_ready' && state === 'pending')).toHaveLength(1)
  })
})

/** Written by somebody who tells nobody: a decision that others rest on, and none of what belongs to it. */
async function writeAlone({ parts: { journal } }: Staged, stream: string, events: AssayEvent[], enqueue: NewWork[] = []) {
  const meta = { at: new Date().toISOString(), actor: 'owner' }
  const streams = [{ stream, expected: await journal.head(stream), events: events.map(asNew) }]
  expect(await journal.append({ streams, meta, enqueue })).toMatchObject({ ok: true })
}

/** A task is to be done again, and only the one who does it knows. */
async function openUnheard(scene: Staged, title: string) {
  const task = `plan-1/${title}`
  const grant: AssayEvent = { type: 'attempts.granted', data: { count: 1, why: 'x' } }
  const work: NewWork = { key: `again:${task}`, kind: 'run_attempt', scope: 'plan-1', priority: 1, payload: { task } }
  await writeAlone(scene, missionStream('plan-1'), [{ type: 'mission.reopened', data: { mission: 'plan-1', task } }])
  await writeAlone(scene, taskStream(task), [{ type: 'task.reopened', data: { by: 'owner', reason: 'x' } }, grant], [work])
}

describe('work whose ground was lost unheard', () => {
  it('is held and done again once its input ends with other content', async () => {
    const scene = await stageMission({ tasks: chain })
    await scene.run()
    await openUnheard(scene, 'a')
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect(await scene.attempts('a')).toBe(2)
    await expectCurrent(scene, ['b', 'a'], ['c', 'b'])
  })

  it('does not end clean where its deliverable is withheld for it, and says what helps', async () => {
    const deliverable = { kind: 'text' } as never
    const scene = await stageMission({ tasks: { b: { dependsOn: ['a'], deliverable }, a: {} } })
    expect((await scene.run()).exitCode).toBe(0)
    const accepted = (await scene.parts.journal.readStream('task/plan-1/b')).find(({ type }) => type === 'task.accepted')
    // Retried by a version that began again on what was given before.
    await writeAlone(scene, 'task/plan-1/b', [
      { type: 'task.failed', data: { reason: 'x' } },
      { type: 'task.accepted', data: accepted?.data } as AssayEvent,
    ])
    await openUnheard(scene, 'a')
    const end = await scene.run()
    expect(end).toMatchObject({ exitCode: 3, outcome: 'inconclusive', counts: { clean: 2 } })
    expect(end.withheld).toMatchObject([{ task: 'plan-1/b', why: expect.stringContaining('assay overrule plan-1/b fail') }])
    expect((await scene.engine.missions())[0]).toMatchObject({ outcome: 'inconclusive' })
    expect(await scene.overrule('b')).toMatchObject({ ok: true })
    expect(await scene.run()).toMatchObject({ exitCode: 0, outcome: 'clean', withheld: [] })
    await expectCurrent(scene, ['b', 'a'])
  })
})

describe('what a task asks while its input is open again', () => {
  it('offers only what is taken', async () => {
    const scene = await stageMission({ tasks: { b: { dependsOn: ['a'] }, a: {} } })
    await scene.engine.handle('plan-1/b', { type: 'fail_task', reason: 'x' }, 'runtime')
    await scene.run()
    await retryMission(scene.engine, 'plan-1', said)
    await scene.engine.handle('plan-1/b', { type: 'hold_task', reason: 'operator', detail: 'look' }, 'runtime')
    const asked = async () => (await scene.engine.requests()).map(({ answers }) => answers.join())
    expect(await asked()).toEqual(['retry,fail'])
    await scene.overrule('a')
    expect(await asked()).toEqual(['fail', 'fail'])
    expect((await scene.engine.detail('plan-1/b'))?.requests.map(({ answers }) => answers.join())).toEqual(['fail', 'fail'])
  })
})

/** Tasks in an order in which each depends only on earlier ones, some of it through gates; some fail at first. */
const node = fc.record({ on: fc.array(fc.nat(), { maxLength: 2 }), gated: fc.boolean(), fails: fc.boolean() })
const steps = fc.array(fc.record({ overruled: fc.nat(), runs: fc.boolean() }), { minLength: 1, maxLength: 3 })

describe('in any graph', () => {
  it('whatever was overruled, and whenever the rest was tried again, all that is done rests on what is accepted now', async () => {
    const property = fc.asyncProperty(fc.array(node, { minLength: 3, maxLength: 6 }), steps, async (nodes, moves) => {
      const tasks: Scene['tasks'] = {}
      const gates: NonNullable<Scene['gates']> = []
      for (const [n, { on, gated }] of nodes.entries()) {
        const before = n === 0 ? [] : [...new Set(on.map((one) => `t${one % n}`))]
        if (gated && before.length > 0) gates.push({ name: `g${n}`, afterTasks: before, blocksTasks: [`t${n}`], requireAllPassed: false })
        tasks[`t${n}`] = { dependsOn: before, ...(gated && before.length > 0 && { gates: [`g${n}`] }) }
      }
      const score = (title: string, attempt: number) => (attempt === 1 && nodes[Number(title.slice(1))]?.fails ? 20 : 90)
      const scene = await stageMission({ tasks, gates, score })
      await scene.run()
      for (const { overruled, runs } of moves) {
        await scene.overrule(`t${overruled % nodes.length}`)
        if (runs) await scene.run()
        await retryMission(scene.engine, 'plan-1', said)
      }
      for (let rounds = 0; rounds <= nodes.length && (await scene.run()).exitCode !== 0; rounds += 1)
        await retryMission(scene.engine, 'plan-1', said)
      expect((await scene.run()).counts).toEqual({ clean: nodes.length })
      for (const [title, { dependsOn = [] }] of Object.entries(tasks)) for (const on of dependsOn) await expectCurrent(scene, [title, on])
    })
    await fc.assert(property, { numRuns: 12 })
  }, 120_000)
})
