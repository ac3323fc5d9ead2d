import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { benchOf, racingJournal, type Scene, stageMission } from '../../testing/engine/gated-mission.ts'
import type { AppendRequest } from '../../ports/journal.ts'
import { TaskStore } from '../task/task-store.ts'
import { runAttempt } from '../work/attempt/run.ts'

type Staged = Awaited<ReturnType<typeof stageMission>>
const stop = new AbortController().signal
const owner = { actor: 'owner' }

/** Decides and appends, as a process does that is killed right after: nobody has been told. */
const openAlone = ({ parts }: Pick<Staged, 'parts'>, title: string) =>
  new TaskStore(parts).handle(`plan-1/${title}`, { type: 'reopen_task', by: 'owner', reason: 'more' }, owner)
const overruleAlone = ({ parts }: Pick<Staged, 'parts'>, title: string) =>
  new TaskStore(parts).handle(`plan-1/${title}`, { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'not so' }, owner)

const behindGate: Pick<Scene, 'tasks' | 'gates'> = {
  tasks: { a: {}, b: { dependsOn: ['a'] }, c: { gates: ['g1'] } },
  gates: [{ name: 'g1', afterTasks: ['b'], blocksTasks: ['c'] }],
}
const starts = ({ streams }: AppendRequest, task: string): boolean =>
  streams.some(({ stream, events }) => stream === `task/plan-1/${task}` && events.some(({ type }) => type === 'attempt.started'))

describe('whatever is behind a task that is opened again', () => {
  it('does not start through a gate that looked at what rests on it, although nobody has been told', async () => {
    const scene = await stageMission(behindGate)
    await scene.run()
    expect(await openAlone(scene, 'c')).toMatchObject({ ok: true })
    expect(await overruleAlone(scene, 'a')).toMatchObject({ ok: true })
    expect([await scene.statusOf('b'), await scene.gate('g1')]).toEqual(['held', 'waiting'])
    const wanted = { owner: 'x', kinds: ['run_attempt'], scopes: ['plan-1'], limit: 9, leaseMs: 60_000 }
    const lease = (await scene.parts.journal.claim(wanted)).find(({ payload }) => (payload as { task: string }).task === 'plan-1/c')
    if (!lease) throw new Error('c is not to be done')
    await runAttempt(benchOf(scene), lease, stop)
    expect((await scene.types('task/plan-1/c')).at(-1)).toBe('task.blocked')
  })

  it('does not start where it is opened in the very moment of the start', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !starts(request, 'c')) return
      raced += 1
      expect(await overruleAlone({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ ...behindGate, journal })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect(raced).toBe(1)
    const [started, ...more] = await scene.positions('task/plan-1/c', 'attempt.started')
    const [, accepted] = await scene.positions('task/plan-1/a', 'task.accepted')
    expect(more).toEqual([])
    expect(started).toBeGreaterThan(accepted as number)
  })

  it('is held in the same append, task by task, and goes on by itself once all has landed', async () => {
    const scene = await stageMission({ tasks: { d: { dependsOn: ['c'] }, c: { dependsOn: ['b'] }, b: { dependsOn: ['a'] }, a: {} } })
    await scene.run()
    expect(await openAlone(scene, 'd')).toMatchObject({ ok: true })
    expect(await openAlone(scene, 'a')).toMatchObject({ ok: true })
    const [opened] = await scene.positions('task/plan-1/a', 'task.reopened')
    for (const title of ['b', 'c', 'd']) {
      expect(await scene.statusOf(title), title).toBe('held')
      const [held] = await scene.positions(`task/plan-1/${title}`, 'task.held')
      expect((await scene.parts.journal.read((opened as number) - 1, 100)).map(({ position }) => position)).toContain(held)
    }
    expect((await scene.run()).counts).toEqual({ clean: 4 })
    expect(await scene.finished()).toBe(true)
    for (const title of ['b', 'c', 'd']) expect(await scene.positions(`task/plan-1/${title}`, 'task.held'), title).toHaveLength(1)
  })

  it('and hands something over ends its card with it', async () => {
    const deliverable = { kind: 'text' } as never
    const scene = await stageMission({ tasks: { c: { dependsOn: ['b'], deliverable }, b: { dependsOn: ['a'] }, a: {} } })
    await scene.run()
    const reports = async () => (await scene.engine.inbox()).flatMap(({ type, state }) => (type === 'report_ready' ? [state] : []))
    expect(await reports()).toEqual(['pending'])
    expect(await openAlone(scene, 'a')).toMatchObject({ ok: true })
    expect(await reports()).toEqual(['expired'])
  })
})

/** Tasks in an order in which each depends only on earlier ones, some of it through gates. */
const graph = fc.array(fc.record({ on: fc.array(fc.nat(), { maxLength: 2 }), through: fc.boolean() }), { minLength: 3, maxLength: 7 })

describe('in any graph', () => {
  it('nothing counts as done or may start whose input is open again, right after the append that opened it', async () => {
    const property = fc.asyncProperty(graph, fc.nat(), async (nodes, pick) => {
      const tasks: Scene['tasks'] = {}
      const gates: NonNullable<Scene['gates']> = []
      for (const [n, { on, through }] of nodes.entries()) {
        const before = n === 0 ? [] : [...new Set(on.map((one) => `t${one % n}`))]
        if (through && before.length > 0) gates.push({ name: `g${n}`, afterTasks: before, blocksTasks: [`t${n}`] })
        tasks[`t${n}`] = through && before.length > 0 ? { gates: [`g${n}`] } : { dependsOn: before }
      }
      const scene = await stageMission({ tasks, gates })
      await scene.run()
      expect(await openAlone(scene, `t${pick % nodes.length}`)).toMatchObject({ ok: true })
      for (const title of Object.keys(tasks)) {
        const status = await scene.statusOf(title)
        if (status !== 'done') continue
        for (const input of tasks[title]?.dependsOn ?? []) expect(await scene.statusOf(input), `${title} on ${input}`).toBe('done')
      }
      for (const { name, afterTasks } of gates)
        if ((await scene.gate(name)) === 'passed')
          for (const input of afterTasks) expect(await scene.statusOf(input), `${name} on ${input}`).toBe('done')
      expect((await scene.run()).counts).toEqual({ clean: nodes.length })
    })
    await fc.assert(property, { numRuns: 12 })
  }, 120_000)
})
