import { describe, expect, it } from 'vitest'
import { racingJournal, stageMission } from '../../testing/engine/gated-mission.ts'
import type { AppendRequest } from '../../ports/journal.ts'
import { TaskStore } from '../task/task-store.ts'

type Scene = Awaited<ReturnType<typeof stageMission>>

/** The owner accepts after all, by a process that is killed right after. */
const overrule = ({ parts }: Pick<Scene, 'parts'>, title: string) =>
  new TaskStore(parts).handle(
    `plan-1/${title}`,
    { type: 'overrule_task', outcome: 'pass', by: 'owner', reason: 'fine' },
    { actor: 'owner' },
  )
const endsRun = ({ streams }: AppendRequest) => streams.some(({ events }) => events.some(({ type }) => type === 'mission.finished'))
const poor = (title: string) => (title === 'a' ? 20 : 90)

describe('a failed task that the owner accepts after its run has finished', () => {
  it('opens the run in the same append, so that what was skipped is done and the end is written anew', async () => {
    const scene = await stageMission({ tasks: { a: {}, t: { dependsOn: ['a'] } }, score: poor })
    expect((await scene.run()).counts).toEqual({ failed: 1, skipped: 1 })
    expect(await scene.finished()).toBe(true)
    expect(await overrule(scene, 'a')).toMatchObject({ ok: true })
    expect(await scene.finished()).toBe(false)
    expect((await scene.run()).counts).toEqual({ 'owner-accepted': 1, clean: 1 })
    expect((await scene.types('mission/plan-1')).slice(2)).toEqual(['mission.finished', 'mission.reopened', 'mission.finished'])
    expect((await scene.engine.missions())[0]?.outcome).toBe('owner-accepted')
  })

  it('leaves a gate that passed as it is, and has one that failed look again', async () => {
    const scene = await stageMission({
      tasks: { a: {}, b: {}, s: { gates: ['strict'] }, e: { gates: ['easy'] } },
      gates: [
        { name: 'strict', afterTasks: ['a', 'b'], blocksTasks: ['s'] },
        { name: 'easy', afterTasks: ['b'], blocksTasks: ['e'] },
      ],
      score: poor,
    })
    await scene.run()
    expect([await scene.gate('strict'), await scene.gate('easy'), await scene.statusOf('s')]).toEqual(['failed', 'passed', 'waiting'])
    expect(await overrule(scene, 'a')).toMatchObject({ ok: true })
    await scene.run()
    expect([await scene.gate('strict'), await scene.statusOf('s'), await scene.finished()]).toEqual(['passed', 'done', true])
    expect(await scene.types('gate/plan-1/easy')).not.toContain('gate.reopened')
  })

  it('at the very moment of the end is seen by it: the run is finished once, as it is by then', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !endsRun(request)) return
      raced += 1
      expect(await overrule({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ tasks: { a: {} }, score: poor, journal })
    await scene.run()
    expect(raced).toBe(1)
    expect((await scene.types('mission/plan-1')).slice(2)).toEqual(['mission.finished'])
    expect((await scene.engine.missions())[0]?.outcome).toBe('owner-accepted')
  })
})

describe('the end of a run', () => {
  it('is one append: a run with a task that was opened meanwhile was never finished, whoever dies right after', async () => {
    const reopening = { type: 'reopen_task', by: 'owner', reason: 'more' } as const
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !endsRun(request)) return
      raced += 1
      const other = new TaskStore({ ...scene.parts, journal: own })
      expect(await other.handle('plan-1/a', reopening, { actor: 'owner' })).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ tasks: { a: {} }, journal })
    await scene.run()
    expect(raced).toBe(1)
    expect(await scene.types('mission/plan-1')).not.toContain('mission.finished')
    await scene.run()
    expect((await scene.types('mission/plan-1')).slice(2)).toEqual(['mission.finished'])
  })
})
