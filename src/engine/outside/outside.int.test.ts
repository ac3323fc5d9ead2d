import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { eyesOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { taskStream } from '../streams.ts'

const config = {
  brains: { away: { kind: 'outside' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'away' }, qa: { role: 'reviewer', brain: 'eyes' } },
  limits: { judgeRetries: 0, outsideLease: '1h', caseBytes: 100_000 },
}
const id = 'plan-1/a'
const stop = new AbortController().signal

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

async function workshop(score: (attempt: number) => number, more: object = {}) {
  const shop = openWorkshop({
    config: { ...config, ...more },
    brains: { eyes: eyesOf(({ attempt }) => `${score(attempt) < 60 ? 'It says nothing.' : 'Fine.'}\nSCORE: ${score(attempt)}`) },
  })
  open.push(shop)
  const spec = specWith({ id: 'plan/a', title: 'a', assignee: 'dev', mission: 'plan' })
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
  if (!started.ok) throw new Error(started.error.message)
  const run = () => shop.engine.run({ missions: ['plan-1'], stop })
  return { ...shop, run }
}

const goodCase = JSON.stringify({
  summary: 'wrote core.txt',
  ac_coverage: [
    { criterion: 'AC1', pointer: 'core.txt:1' },
    { criterion: 'AC2', pointer: 'core.txt:1' },
  ],
})

describe('a worker outside', () => {
  it('takes its task, is sent back with feedback, and is accepted; nothing waits for Assay to start it', async () => {
    const { engine, run, parts } = await workshop((attempt) => (attempt === 1 ? 40 : 90))
    expect((await run()).rows).toMatchObject([{ status: 'todo' }])
    const taken = await engine.outside.take(id, 'dev')
    if (!taken.ok) throw new Error(taken.error.message)
    expect(taken.value).toMatchObject({ attempt: 1, prompt: expect.stringContaining('AC1') })
    expect(await engine.outside.take(id, 'dev')).toMatchObject({ ok: true, value: { attempt: 1 } })
    writeFileSync(join(taken.value.workspace, 'core.txt'), 'hello')
    expect(await engine.outside.submit({ task: id, worker: 'dev', attempt: 1, raw: '{"summary":"half"' })).toMatchObject({
      ok: true,
      value: { problems: [expect.any(String)] },
    })
    const tooLong = goodCase.padEnd(200_000)
    expect(await engine.outside.submit({ task: id, worker: 'dev', attempt: 1, raw: tooLong })).toMatchObject({
      ok: true,
      value: { problems: [expect.stringContaining('longer than 100000 bytes')] },
    })
    expect(await engine.outside.submit({ task: id, worker: 'dev', attempt: 1, raw: goodCase })).toEqual({
      ok: true,
      value: { problems: [] },
    })
    const unread = (await parts.journal.readStream(`task/${id}`)).filter(({ type }) => type === 'case.parse_error')
    expect(unread).toHaveLength(2)
    expect(await engine.outside.review(id)).toMatchObject({ ok: true, value: { phase: 'reviewing' } })
    await run()
    expect(await engine.outside.review(id)).toMatchObject({
      ok: true,
      value: { phase: 'rejected', feedback: expect.stringContaining('It says nothing.') },
    })
    expect(await engine.outside.submit({ task: id, worker: 'dev', attempt: 1, raw: goodCase })).toMatchObject({
      ok: false,
      error: { code: 'stale_attempt' },
    })
    const again = await engine.outside.take(id, 'dev')
    expect(again).toMatchObject({ ok: true, value: { attempt: 2, prompt: expect.stringContaining('It says nothing.') } })
    if (again.ok) writeFileSync(join(again.value.workspace, 'core.txt'), 'hello, and more')
    await engine.outside.submit({ task: id, worker: 'dev', attempt: 2, raw: goodCase })
    expect(await run()).toMatchObject({ exitCode: 0, counts: { clean: 1 } })
    expect(await engine.outside.review(id)).toMatchObject({ ok: true, value: { phase: 'accepted', flag: 'clean' } })
  })

  it('cannot take what is another’s, what does not exist, or what Assay starts itself', async () => {
    const { engine } = await workshop(() => 90)
    expect(await engine.outside.take(id, 'qa')).toMatchObject({ ok: false, error: { code: 'not_assignee' } })
    expect(await engine.outside.take('plan-1/ghost', 'dev')).toMatchObject({ ok: false, error: { code: 'not_found' } })
    expect(await engine.outside.submit({ task: id, worker: 'dev', attempt: 1, raw: goodCase })).toMatchObject({
      ok: false,
      error: { code: 'not_assignee' },
    })
    expect(await engine.outside.beat(id, 'dev')).toMatchObject({ ok: false })
  })

  it('that vanishes loses its attempt, charged; one that shows itself keeps it', async () => {
    const shop = await workshop(() => 90, { limits: { outsideLease: '1h' } })
    let skew = 0
    shop.parts.clock.now = () => Date.now() + skew
    await shop.engine.outside.take(id, 'dev')
    skew = 50 * 60_000
    expect(await shop.engine.outside.beat(id, 'dev')).toEqual({ ok: true, value: { attempt: 1 } })
    expect(await shop.engine.outside.beat(id, 'qa')).toMatchObject({ ok: false, error: { code: 'not_assignee' } })
    skew = 100 * 60_000
    await shop.run()
    expect((await shop.engine.task(id))?.status).toBe('running')
    skew = 111 * 60_000
    const { parts } = shop
    const types = async () => (await parts.journal.readStream(taskStream(id))).map(({ type }) => type)
    expect(await types()).not.toContain('attempt.failed')
    await later(shop)
    expect(await types()).toContain('attempt.failed')
    const state = await shop.engine.task(id)
    expect(state).toMatchObject({ status: 'todo', charged: 1, feedback: { summary: expect.stringContaining('not been heard of') } })
  })

  it.each(['submit', 'beat', 'take'] as const)(
    'that comes back too late (%s) has lost its attempt, though nobody looked meanwhile',
    async (by) => {
      const shop = await workshop(() => 90, { limits: { outsideLease: '1h' } })
      const { outside } = shop.engine
      let skew = 0
      shop.parts.clock.now = () => Date.now() + skew
      await outside.take(id, 'dev')
      skew = 61 * 60_000
      const stale = { ok: false, error: { code: 'stale_attempt', message: expect.stringContaining('counts') } }
      if (by === 'submit') expect(await outside.submit({ task: id, worker: 'dev', attempt: 1, raw: goodCase })).toMatchObject(stale)
      if (by === 'beat') expect(await outside.beat(id, 'dev')).toMatchObject(stale)
      // Somebody else's call decides nothing about it.
      expect(await outside.beat(id, 'qa')).toMatchObject({ ok: false })
      expect(await outside.take(id, 'dev')).toMatchObject({ ok: true, value: { attempt: 2 } })
      expect(await shop.engine.task(id)).toMatchObject({ status: 'running', charged: 2 })
      const failed = (await shop.parts.journal.readStream(taskStream(id))).filter(({ type }) => type === 'attempt.failed')
      expect(failed.map(({ data }) => data)).toMatchObject([{ attempt: 1, failure: 'lease_lost' }])
      expect(await outside.submit({ task: id, worker: 'dev', attempt: 1, raw: goodCase })).toMatchObject({
        ok: false,
        error: { code: 'stale_attempt' },
      })
    },
  )
})

/** Looks after the worker now, as a process that starts an hour later does: what was put off by the clock of then is due. */
async function later({ parts, engine }: Awaited<ReturnType<typeof workshop>>): Promise<void> {
  const { watchWorker } = await import('./watch.ts')
  const lease = {
    key: 'k',
    kind: 'watch_worker',
    payload: { task: id, attempt: 1 },
    owner: parts.owner,
    fence: 1,
    claims: 1,
    postponed: 0,
    until: 0,
  }
  const tasks = {
    load: async (task: string) => ({ state: await engine.task(task), version: 0 }),
    handle: (task: string, command: never) => engine.handle(task, command, 'runtime'),
  }
  await watchWorker({ parts, tasks } as never, lease, stop)
}
