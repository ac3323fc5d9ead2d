import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CheckReport } from '../../../../contract/check.ts'
import type { BrainPort } from '../../../../ports/brain.ts'
import { openWorkshop } from '../../../../testing/engine/workshop.ts'
import { type Answer, say, use } from '../../../../testing/model-server/answers.ts'
import { modelJudge } from '../../../../testing/model-server/model-judge.ts'
import { handIn } from '../../../../testing/model-server/model-worker.ts'
import { type ModelRequest, toolAnswers } from '../../../../testing/model-server/request.ts'
import { type ModelServer, startModelServer } from '../../../../testing/model-server/server.ts'
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
const inTurn =
  (...answers: Answer[]) =>
  (request: ModelRequest): Answer =>
    answers[Math.min(request.number, answers.length) - 1] as Answer
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
  const types = async () => (await shop.parts.journal.readStream('task/plan-1/a')).map(({ type }) => type)
  return { run, types, shop }
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
})
