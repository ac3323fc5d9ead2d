import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { CheckReport } from '../../../../contract/check.ts'
import type { EventData } from '../../../../contract/events/manifest.ts'
import type { SpendingRow } from '../../../../engine/views/spending.ts'
import type { BrainPort } from '../../../../ports/brain.ts'
import { openWorkshop } from '../../../../testing/engine/workshop.ts'
import { type Answer, say, use } from '../../../../testing/model-server/answers.ts'
import { modelJudge } from '../../../../testing/model-server/model-judge.ts'
import { handIn, sampleCase } from '../../../../testing/model-server/model-worker.ts'
import { type ModelRequest, toolAnswers } from '../../../../testing/model-server/request.ts'
import { type ModelServer, startModelServer } from '../../../../testing/model-server/server.ts'
import { inTurn } from '../../../../testing/model-server/workers.ts'
import { specWith } from '../../../../testing/task/world.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(() => handIn())
})
afterAll(() => server.close())
const shops: { remove(): void }[] = []
afterEach(() => {
  for (const shop of shops.splice(0)) shop.remove()
})

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
  stopGrace: '100ms',
}
const eyes = (...scores: number[]): BrainPort => ({
  conversational: false,
  work: () => Promise.reject(new Error('a judge does not work')),
  judge: async () => ({ kind: 'reply', reply: { channel: 'text', body: `It should say hello twice.\nSCORE: ${scores.shift() ?? 90}` } }),
  close: async () => {},
})
const write = (content: string) => use('write_file', { path: 'core.txt', content })

async function begin(judge: BrainPort, outcomes: CheckReport['outcome'][] = []) {
  const shop = openWorkshop({ config, brains: { hands: modelJudge(server, 'openai-compatible'), eyes: judge } })
  shops.push(shop)
  shop.parts.checks = {
    run: async (id, { kind }) => ({
      id,
      kind,
      outcome: outcomes.shift() ?? 'pass',
      summary: 'so it is',
      output: 'its output',
      findings: [],
    }),
  }
  const spec = specWith({ id: 'plan/a', mission: 'plan', checks: [{ kind: 'text', contains: ['hello'] }] })
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
  if (!started.ok) throw new Error(started.error.message)
  const run = (stop = new AbortController().signal) => shop.engine.run({ missions: [started.value.mission], stop })
  const events = () => shop.parts.journal.readStream('task/plan-1/a')
  const types = async () => (await events()).map(({ type }) => type)
  const working = async () => ((await shop.parts.journal.viewRow('spending', 'agent:dev')) as SpendingRow | undefined)?.working
  return { run, types, events, working, shop }
}

describe('a model worker in the loop', () => {
  it('is rejected, hears why as the answer of its case, mends the work and is accepted', async () => {
    server.play(inTurn(write('hello\n'), handIn(), write('hello hello\n'), handIn()))
    const { run, shop } = await begin(eyes(30, 90))
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(await shop.engine.task('plan-1/a')).toMatchObject({ attempts: 2 })
    const [first, , third] = server.requests as ModelRequest[]
    expect(toolAnswers(third as ModelRequest)).toContain('It should say hello twice.')
    const messages = (request: ModelRequest | undefined) => request?.json.messages as unknown[]
    expect(messages(third).slice(0, 2)).toEqual(messages(first))
  })

  it('mends a case that cannot be read, and work that fails its checks, within one attempt', async () => {
    server.play(inTurn(write('hullo\n'), handIn('{"summary":"x"}'), handIn(), write('hello\n'), handIn()))
    const { run, types, shop } = await begin(eyes(), ['fail', 'pass'])
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(await shop.engine.task('plan-1/a')).toMatchObject({ attempts: 1 })
    expect(await types()).toEqual(expect.arrayContaining(['case.parse_error', 'checks.failed', 'checks.passed']))
    expect(toolAnswers(server.requests[3] as ModelRequest)).toMatch(/Checks do not pass[\s\S]*its output/)
  })

  it('goes on with the same attempt after a stop between two calls', async () => {
    const stop = new AbortController()
    server.play((request) => {
      if (request.number === 1) return write('hello\n')
      stop.abort()
      return { ...say('late'), delivery: { how: 'hang', before: 'headers' } }
    })
    const { run, types, shop } = await begin(eyes())
    expect((await run(stop.signal)).stopped).toBe(true)
    const last = server.requests.at(-1)?.json
    server.play(() => handIn())
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(server.requests[0]?.json).toEqual(last)
    expect(await shop.engine.task('plan-1/a')).toMatchObject({ attempts: 1 })
    expect((await types()).filter((type) => type === 'call.begun')).toHaveLength(1)
  })

  it('is rejected when it goes quiet twice, and never passes', async () => {
    server.play(() => say('Done!'))
    const { run, types } = await begin(eyes())
    expect((await run()).counts).not.toHaveProperty('clean')
    expect(await types()).toEqual(expect.arrayContaining(['worker.reminded', 'attempt.rejected']))
    expect(await types()).not.toContain('case.submitted')
    expect(server.requests).toHaveLength(4)
  })

  it('hands in cases that nobody can read: too long, a key twice, two at once; each is written down and answered', async () => {
    const long = JSON.stringify({ summary: 'x'.repeat(70_000), ac_coverage: [] })
    const twice = sampleCase.replace('{', '{"summary":"Another.",')
    const two: Answer = {
      kind: 'message',
      calls: [sampleCase, sampleCase.replace('Wrote', 'Did not write')].map((args) => ({ name: 'submit_case', args })),
    }
    server.play(inTurn(write('hello\n'), handIn(long), handIn(twice), two, handIn()))
    const { run, events } = await begin(eyes())
    expect((await run()).counts).toEqual({ clean: 1 })
    const unread = (await events()).flatMap(({ type, data }) =>
      type === 'case.parse_error' ? [data as EventData<'case.parse_error'>] : [],
    )
    expect(unread.map(({ problems }) => problems.join())).toEqual([
      expect.stringContaining('longer than 65536 bytes'),
      expect.stringContaining('twice'),
      expect.stringContaining('several different cases'),
    ])
    expect(unread[0]?.raw.length).toBeLessThan(10_000)
    expect(unread[2]?.raw).toMatch(/Wrote core[\s\S]*Did not write core/)
    const heard = server.requests.slice(2).map(toolAnswers)
    expect(heard[0]).toContain('longer than 65536 bytes')
    expect(heard[1]).toContain('twice')
    expect(heard[2]?.match(/several different cases/g)).toHaveLength(2)
  })

  it.each([
    ['unreadable cases', () => handIn('{}'), 4],
    ['cases that are too long', () => handIn(JSON.stringify({ summary: 'x'.repeat(70_000) })), 4],
    ['silence', () => say('Done!'), 2],
  ])('ends attempts by %s: what each has used is told', async (_, answer, requests) => {
    server.play(answer)
    const { run, events, working } = await begin(eyes())
    expect((await run()).counts).not.toHaveProperty('clean')
    const rejected = (await events()).filter(({ type }) => type === 'attempt.rejected')
    expect(rejected.length).toBeGreaterThan(1)
    const used = { inputTokens: 100 * requests, outputTokens: 20 * requests, durationMs: expect.any(Number) }
    for (const { data } of rejected) expect(data).toMatchObject({ usage: used })
    const all = rejected.length * requests
    expect(server.requests).toHaveLength(all)
    expect(await working()).toMatchObject({ calls: rejected.length, inputTokens: 100 * all, outputTokens: 20 * all })
  })

  it('has an unreadable case and goes on: what that used is told once, with the case that is taken', async () => {
    server.play(inTurn(write('hello\n'), handIn('{}'), handIn()))
    const { run, working } = await begin(eyes())
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(await working()).toMatchObject({ calls: 1, inputTokens: 300, outputTokens: 60 })
  })

  it('is stopped in the middle of a call: what the attempt has used is told', async () => {
    const stop = new AbortController()
    server.play(inTurn(use('run', { argv: ['sh', '-c', 'echo begun > begun.txt; sleep 600'] })))
    const { run, events, working, shop } = await begin(eyes())
    const ended = run(stop.signal)
    await vi.waitFor(async () => expect((await events()).map(({ type }) => type)).toContain('call.begun'), { timeout: 30_000 })
    stop.abort()
    expect((await ended).stopped).toBe(true)
    const stopped = (await events()).find(({ type }) => type === 'attempt.stopped')
    expect(stopped?.data).toMatchObject({ worker: 'dev', usage: { inputTokens: 100, outputTokens: 20 } })
    expect(await working()).toMatchObject({ calls: 1, inputTokens: 100, outputTokens: 20 })
    expect(await shop.engine.task('plan-1/a')).toMatchObject({ status: 'todo', charged: 0 })
  })
})
