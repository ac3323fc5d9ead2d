import { afterEach, describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { BrainPort, JudgeEnding, Talk, WorkEnding } from '../../ports/brain.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import type { SpendingRow } from '../views/spending.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
  stopGrace: '100ms',
  limits: { workerLease: '1s', judgeRetries: 0 },
}
const goodCase = JSON.stringify({ summary: 'Did it.', ac_coverage: [] })
const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

interface Play {
  conversational?: boolean
  /** `end` ends the task from outside. */
  work(end: () => Promise<void>, talk: Talk | undefined): Promise<WorkEnding>
  judge?(end: () => Promise<void>): Promise<JudgeEnding>
}

const ends: [string, TaskCommand][] = [
  ['its deadline', { type: 'fail_task', reason: 'the deadline passed' }],
  ['its owner', { type: 'fail_task', reason: 'the owner stopped the mission', by: 'owner' }],
]

async function play({ conversational = false, work, judge }: Play, ending = ends[0]?.[1] as TaskCommand) {
  const end = async () => {
    expect(await shop.engine.handle('plan-1/a', ending, 'runtime')).toMatchObject({ ok: true })
  }
  const brain: BrainPort = {
    conversational,
    work: (order) => work(end, order.talk),
    judge: () => (judge ? judge(end) : Promise.resolve({ kind: 'reply', reply: { channel: 'text', body: 'SCORE: 90' } })),
    close: async () => {},
  }
  const shop = openWorkshop({ config, brains: { hands: brain, eyes: brain } })
  open.push(shop)
  const spec = specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false })
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
  if (!started.ok) throw new Error(started.error.message)
  const run = () => shop.engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
  const row = async (key: string) => (await shop.parts.journal.viewRow('spending', key)) as SpendingRow | undefined
  const types = async () => (await shop.parts.journal.readStream('task/plan-1/a')).map(({ type }) => type)
  return { run, row, types }
}

describe.each(ends)('what a task had cost that was ended in the middle by %s', (_by, ending) => {
  const usage = { inputTokens: 7, outputTokens: 3, costUsd: 2 }
  const spent = { calls: 1, unpriced: 0, inputTokens: 7, outputTokens: 3, costUsd: 2 }

  it.each<[string, WorkEnding]>([
    ['was stopped', { kind: 'stopped', detail: 'stopped', output: '', usage }],
    ['failed', { kind: 'failed', failure: 'exit', detail: 'it failed', output: '', beforeEffect: false, usage }],
    ['brought a case', { kind: 'finished', raw: goodCase, output: 'work', sandboxed: false, usage }],
  ])('is counted where its worker %s', async (_how, brought) => {
    const { run, row, types } = await play({ work: (end) => end().then(() => brought) }, ending)
    await run()
    expect((await row('agent:dev'))?.working).toEqual(spent)
    expect((await row('mission:plan-1'))?.working).toEqual(spent)
    expect((await types()).filter((type) => type === 'usage.counted')).toHaveLength(1)
    expect(await types()).not.toContain('case.submitted')
  })

  it('is counted where a worker that talks was in a tool call, once', async () => {
    const { run, row } = await play(
      {
        conversational: true,
        work: async (end, talk) => {
          await talk?.calling('run', 'I will run it', { ...usage, costUsd: 1 })
          await end()
          await talk?.called('it ran', usage)
          return { kind: 'handed_in' }
        },
      },
      ending,
    )
    await run()
    await run()
    expect((await row('agent:dev'))?.working).toEqual(spent)
  })

  it('is counted after a crash in the call, as far as it was known', async () => {
    const { run, row } = await play(
      {
        conversational: true,
        work: async (end, talk) => {
          await talk?.calling('run', 'I will run it', usage)
          await end()
          throw Object.assign(new Error('the machine went away'), { code: 'EIO' })
        },
      },
      ending,
    )
    await expect(run()).rejects.toThrow('the machine went away')
    await run()
    expect((await row('agent:dev'))?.working).toEqual(spent)
  })

  it('is counted where a judge was asked', async () => {
    const { run, row, types } = await play(
      {
        work: async () => ({ kind: 'finished', raw: goodCase, output: 'work', sandboxed: false }),
        judge: (end) => end().then(() => ({ kind: 'reply', reply: { channel: 'text', body: 'SCORE: 90' }, usage })),
      },
      ending,
    )
    await run()
    expect(await types()).not.toContain('verdict.recorded')
    expect((await row('agent:qa'))?.judging).toEqual(spent)
  })
})

it('what a case or a failure told is not counted again', async () => {
  const usage = { inputTokens: 7, costUsd: 2 }
  const { run, row, types } = await play({
    work: async () => ({ kind: 'finished', raw: goodCase, output: 'work', sandboxed: false, usage }),
  })
  expect((await run()).counts).toEqual({ clean: 1 })
  expect(await types()).not.toContain('usage.counted')
  expect((await row('agent:dev'))?.working.costUsd).toBe(2)
})
