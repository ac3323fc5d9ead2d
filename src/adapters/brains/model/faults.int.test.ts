import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readReply } from '../../../core/verdict/read.ts'
import type { JudgeEnding } from '../../../ports/brain.ts'
import { accept, type Message } from '../../../testing/model-server/answers.ts'
import { answerFaults, lastingFaults, transportFaults } from '../../../testing/model-server/faults.ts'
import { judgeQuestion, modelJudge, providers, type ProviderName } from '../../../testing/model-server/model-judge.ts'
import { renderMessage } from '../../../testing/model-server/render/whole.ts'
import { type ModelServer, type Script, startModelServer } from '../../../testing/model-server/server.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(accept)
})
afterAll(() => server.close())

const question = judgeQuestion({ 'core.txt': 'hello\n' })
const never = new AbortController().signal

async function ask(provider: ProviderName, script: Script, options: Parameters<typeof modelJudge>[2] = {}): Promise<JudgeEnding> {
  server.play(script)
  return await modelJudge(server, provider, options).judge(question, never)
}

/** Whether the reader of verdicts would take the ending for an accept. */
function accepts(ending: JudgeEnding): boolean {
  if (ending.kind !== 'reply') return false
  const read = readReply(ending.reply, question)
  return read.kind !== 'unreadable'
}

/** Faults that only a deadline ends. */
const isSlow = (name: string) => /hang|trickle/.test(name)
const quickFaults = Object.entries(transportFaults).filter(([name]) => !isSlow(name))
const slowCases = providers.flatMap((provider) =>
  Object.entries(transportFaults)
    .filter(([name]) => isSlow(name))
    .map(([name, fault]) => ({ provider, name, fault })),
)

describe('a server that does not come to an end', () => {
  /** Each case has a server of its own, so that all of them wait at the same time. */
  const inParallel = <T>(check: (own: ModelServer, one: (typeof slowCases)[number]) => Promise<T>): Promise<T[]> =>
    Promise.all(
      slowCases.map(async (one) => {
        const own = await startModelServer(one.fault)
        return await check(own, one).finally(() => own.close())
      }),
    )

  it('is hung up on at the deadline, asked again, then unavailable', async () => {
    const seen = await inParallel(async (own, { provider, name }) => {
      const ending = await modelJudge(own, provider, { requestMs: 1_200 }).judge(question, never)
      return { case: `${provider}, ${name}`, kind: ending.kind, ends: await Promise.all(own.requests.map(({ ended }) => ended)) }
    })
    expect(seen).toEqual(
      slowCases.map(({ provider, name }) => ({ case: `${provider}, ${name}`, kind: 'unavailable', ends: ['abandoned', 'abandoned'] })),
    )
  })

  it('is hung up on before, where there is a deadline for the first byte; a trickle has its own', async () => {
    const seen = await inParallel(async (own, { provider, name }) => {
      const ending = await modelJudge(own, provider, { firstByteMs: 1_200, requestMs: 3_000, retries: 0 }).judge(question, never)
      return [name, ending.kind === 'unavailable' && ending.detail, await own.requests[0]?.ended]
    })
    expect(seen).toEqual(
      slowCases.map(({ name }) => [name, name === 'trickle' ? 'no whole answer within 3000 ms' : 'no answer within 1200 ms', 'abandoned']),
    )
  })

  it('may answer the next time', async () => {
    const seen = await inParallel(async (own, { provider, name, fault }) => {
      own.play((request) => (request.number === 1 ? fault(request) : accept(request)))
      const ending = await modelJudge(own, provider, { requestMs: 2_000 }).judge(question, never)
      return { case: `${provider}, ${name}`, accepted: accepts(ending), requests: own.requests.length }
    })
    expect(seen).toEqual(slowCases.map(({ provider, name }) => ({ case: `${provider}, ${name}`, accepted: true, requests: 2 })))
  })
})

describe.each(providers)('%s', (provider) => {
  it('control: without a fault the same accept arrives', async () => {
    expect(accepts(await ask(provider, accept))).toBe(true)
  })

  it.each(quickFaults)('%s: asked again, then unavailable', async (name, fault) => {
    const ending = await ask(provider, fault)
    expect(ending).toMatchObject({ kind: 'unavailable' })
    const ends = await Promise.all(server.requests.map((request) => request.ended))
    const fired = name === 'reset in the middle' ? 'broken' : 'answered'
    expect(ends).toEqual([fired, fired])
  })

  it.each(quickFaults)('%s once: the next answer counts', async (_, fault) => {
    const ending = await ask(provider, (request) => (request.number === 1 ? fault(request) : accept(request)))
    expect(server.requests).toHaveLength(2)
    expect(accepts(ending)).toBe(true)
  })

  it.each(Object.entries(lastingFaults))('%s: not asked again, unavailable', async (_, fault) => {
    const ending = await ask(provider, fault)
    expect(ending).toMatchObject({ kind: 'unavailable' })
    expect(server.requests).toHaveLength(1)
    expect(await server.requests[0]?.ended).toBe('answered')
  })

  it.each(Object.entries(answerFaults))('%s: never a verdict', async (name, fault) => {
    const ending = await ask(provider, fault)
    expect(server.requests.length).toBeGreaterThan(0)
    expect(accepts(ending)).toBe(false)
    expect(ending.kind).toBe('reply')
    if (name === 'a gigabyte') {
      expect(await server.requests[0]?.ended).toBe('abandoned')
      expect(server.requests[0]?.sent).toBeLessThan(64 * 1024 ** 2)
    }
  })
})

/** Sends an accept cut after each of the given numbers of bytes, and counts what was taken for an accept. */
async function acceptsOfCuts(provider: ProviderName, by: 'end' | 'reset', step: number): Promise<{ cuts: number; accepted: number }> {
  server.play(accept)
  await modelJudge(server, provider).judge(question, never)
  const seen = server.requests[0]
  if (seen === undefined) throw new Error('nothing was asked')
  const { length } = Buffer.from(renderMessage(seen.dialect, accept(seen)))
  const judge = modelJudge(server, provider, { retries: 0 })
  let cuts = 0
  let accepted = 0
  for (let after = 0; after < length; after += step) {
    server.play((request): Message => ({ ...accept(request), delivery: { how: 'cut', after, by } }))
    const ending = await judge.judge(question, never)
    if ((await server.requests[0]?.ended) === 'broken') cuts += 1
    if (accepts(ending)) accepted += 1
  }
  expect(cuts).toBe(Math.ceil(length / step))
  return { cuts, accepted }
}

describe('a valid accept, cut', () => {
  it('after every byte by a proper end: never a verdict', async () => {
    const { cuts, accepted } = await acceptsOfCuts('openai-compatible', 'end', 1)
    expect(cuts).toBeGreaterThan(800)
    expect(accepted).toBe(0)
  })

  it.each(providers)('after every 29th byte, %s, by an end and by a broken connection: never a verdict', async (provider) => {
    expect((await acceptsOfCuts(provider, 'end', 29)).accepted).toBe(0)
    expect((await acceptsOfCuts(provider, 'reset', 29)).accepted).toBe(0)
  })
})
