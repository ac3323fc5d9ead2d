import { describe, expect, it } from 'vitest'
import { benchOf, racingJournal, type Scene, stageMission } from '../../testing/engine/gated-mission.ts'
import type { AppendRequest } from '../../ports/journal.ts'
import { answerRequest } from '../requests.ts'
import { retryMission } from './retry.ts'
import { stopMission } from './stop.ts'

const order = { by: 'owner', reason: 'enough' }
const oneGate: Pick<Scene, 'tasks' | 'gates'> = {
  tasks: { a: {}, t: { gates: ['g1'] } },
  gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
}
const writes = ({ streams }: AppendRequest, wanted: string): boolean =>
  streams.some(({ events }) => events.some(({ type }) => type === wanted))

describe('a mission that the owner stops', () => {
  it('asks nothing: a gate that waited looks no more, although all that it looks at has ended', async () => {
    let stopped: unknown
    const scene = await stageMission({
      ...oneGate,
      during: async () => {
        stopped ??= await stopMission(scene.engine, 'plan-1', order)
      },
    })
    expect((await scene.run()).counts).toEqual({ failed: 2 })
    expect(stopped).toEqual({ changed: ['plan-1/a', 'plan-1/t'], refused: [], gates: [] })
    expect(await scene.engine.requests()).toEqual([])
    expect(await scene.types('gate/plan-1/g1')).toEqual(['gate.created'])
    expect(await scene.finished()).toBe(true)
  })

  it('asks nothing where a gate was about to', async () => {
    let raced = 0
    const journal = racingJournal(async (request) => {
      if (raced > 0 || !writes(request, 'quality.gate.failed')) return
      raced += 1
      await stopMission(scene.engine, 'plan-1', order)
    })
    const scene = await stageMission({ ...oneGate, journal, score: () => 20 })
    await scene.run()
    expect(raced).toBe(1)
    expect(await scene.engine.requests()).toEqual([])
    expect(await scene.types('gate/plan-1/g1')).toEqual(['gate.created'])
  })

  it('takes back what gates asked, fails what is open and is finished in one append', async () => {
    const seen: AppendRequest[] = []
    const journal = racingJournal(async (request) => {
      if (writes(request, 'mission.finished')) seen.push(request)
    })
    const scene = await stageMission({ ...oneGate, journal, score: () => 20 })
    await scene.run()
    expect(await scene.engine.requests()).toMatchObject([{ subject: 'plan-1/g1' }])
    expect(await stopMission(scene.engine, 'plan-1', order)).toEqual({ changed: ['plan-1/t'], refused: [], gates: ['g1'] })
    expect(seen).toHaveLength(1)
    const written = seen[0]?.streams.flatMap(({ stream, events }) => events.map(({ type }) => `${stream} ${type}`)) ?? []
    expect(written.sort()).toEqual([
      'gate/plan-1/g1 gate.stopped',
      'gate/plan-1/g1 operator.answered',
      'mission/plan-1 mission.finished',
      'task/plan-1/t task.failed',
    ])
    expect(await scene.engine.requests()).toEqual([])
    expect((await scene.engine.missions())[0]).toMatchObject({ outcome: 'failed' })
  })

  it('does not go on with an answer that was given before', async () => {
    const scene = await stageMission({ ...oneGate, score: () => 20 })
    await scene.run()
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    const { parts, tasks } = benchOf(scene)
    expect(await answerRequest(parts, tasks, { request, answer: 'retry', by: 'owner', reason: 'more' })).toMatchObject({ ok: true })
    await stopMission(scene.engine, 'plan-1', order)
    await scene.run()
    expect([await scene.statusOf('a'), await scene.attempts('a'), await scene.finished()]).toEqual(['failed', 1, true])
    expect(await scene.engine.requests()).toEqual([])
  })

  it('goes on behind its gates where the owner opens it again', async () => {
    let stopped = false
    const scene = await stageMission({
      ...oneGate,
      during: async () => {
        if (!stopped) await stopMission(scene.engine, 'plan-1', order)
        stopped = true
      },
    })
    await scene.run()
    expect(await retryMission(scene.engine, 'plan-1', order)).toEqual({ changed: ['plan-1/a', 'plan-1/t'], refused: [] })
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    expect(await scene.gate('g1')).toBe('passed')
  })

  it('is stopped although its tasks move all the time', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (!writes(request, 'mission.finished') || raced >= 40) return
      raced += 1
      const stream = 'task/plan-1/t'
      const reset = { type: 'task.reset', v: 1, data: { by: 'owner', reason: 'again' } }
      const expected = await own.head(stream)
      await own.append({ streams: [{ stream, expected, events: [reset] }], meta: { at: new Date().toISOString(), actor: 'owner' } })
    })
    const scene = await stageMission({ ...oneGate, journal })
    await stopMission(scene.engine, 'plan-1', order)
    expect(raced).toBeGreaterThan(1)
    expect([await scene.statusOf('a'), await scene.statusOf('t')]).toEqual(['failed', 'failed'])
  })
})
