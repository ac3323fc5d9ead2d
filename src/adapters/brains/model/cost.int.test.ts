import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mostCost } from '../../../contract/agent.ts'
import { accept, type Answer, page, use } from '../../../testing/model-server/answers.ts'
import { judgeQuestion, modelJudge, providers, type ProviderName } from '../../../testing/model-server/model-judge.ts'
import { renderMessage } from '../../../testing/model-server/render/whole.ts'
import type { ModelRequest } from '../../../testing/model-server/request.ts'
import { type ModelServer, startModelServer } from '../../../testing/model-server/server.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(accept)
})
afterAll(() => server.close())

const never = new AbortController().signal
const prices = { inputPerMillion: 3, outputPerMillion: 15 }
const maxOutputTokens = 1_000

/** What a server may say in the place of what was used. */
const usages: Record<string, (body: string) => string> = {
  'nothing at all': (body) => body.replace(/,"usage(?:Metadata)?":\{[^}]*\}/, ''),
  'text for numbers': (body) => body.replace(/:100\b/g, ':"x"').replace(/:20\b/g, ':"y"'),
  'numbers below nothing': (body) => body.replace(/:100\b/g, ':-100').replace(/:20\b/g, ':-20'),
  'numbers beyond all': (body) => body.replace(/:100\b/g, ':1e308').replace(/:20\b/g, ':1e308'),
  noughts: (body) => body.replace(/:100\b/g, ':0').replace(/:20\b/g, ':0'),
  'one of two': (body) => body.replace(/"(?:completion_tokens|output_tokens|candidatesTokenCount)":20/, '"other":20'),
}

const dialectOf = (provider: ProviderName) => (provider === 'anthropic' ? 'messages' : provider === 'google' ? 'generate' : 'chat')
const saying =
  (change: (body: string) => string, answer: (request: ModelRequest) => ReturnType<typeof use>) =>
  (request: ModelRequest): Answer => {
    const body = renderMessage(request.dialect, answer(request))
    expect(change(body), 'the fault fired').not.toBe(body)
    return page(change(body), 'application/json')
  }

function judge(provider: ProviderName, files: Record<string, string>, budgetUsd?: number) {
  const question = { ...judgeQuestion(files), ...(budgetUsd !== undefined && { budgetUsd }) }
  const brain = { kind: 'model' as const, provider, model: 'any', baseURL: server.baseURL(provider), apiKeyEnv: 'JUDGE_KEY', prices }
  const first = mostCost(prices, Buffer.byteLength(question.prompt), maxOutputTokens)
  return { first, ending: modelJudge(server, provider, { brain, maxOutputTokens }).judge(question, never) }
}

describe.each(providers)('a judge at %s that does not say what it used', (provider) => {
  it.each(Object.entries(usages))('%s: it has cost what it could at most', async (_name, change) => {
    server.play(saying(change, accept))
    const { first, ending } = judge(provider, {})
    const { usage } = (await ending) as { usage: { costUsd: number; estimated?: boolean } }
    expect(dialectOf(provider)).toBe(server.requests[0]?.dialect)
    expect(usage).toMatchObject({ costUsd: first, estimated: true })
  })

  it('control: what is said counts', async () => {
    server.play(accept)
    const { usage } = (await judge(provider, {}).ending) as { usage: object }
    expect(usage).toMatchObject({ costUsd: 0.0006, inputTokens: 100, outputTokens: 20 })
    expect(usage).not.toHaveProperty('estimated')
  })
})

describe('the turns in which a judge reads', () => {
  const silent = (answer: (request: ModelRequest) => ReturnType<typeof use>) =>
    saying(usages['nothing at all'] as (body: string) => string, answer)

  it('cost too, each for itself', async () => {
    server.play((request) => silent(request.number === 1 ? () => use('list', {}) : accept)(request))
    const { first, ending } = judge('openai-compatible', { 'core.txt': 'hello\n' })
    const { usage } = (await ending) as { usage: { costUsd: number } }
    expect(server.requests).toHaveLength(2)
    expect(usage).toMatchObject({ estimated: true })
    expect(usage.costUsd).toBeGreaterThan(2 * first)
  })

  it('come to an end with what they may cost', async () => {
    server.play((request) => silent(request.forced === undefined ? () => use('list', {}) : accept)(request))
    const { first, ending } = judge('openai-compatible', { 'core.txt': 'hello\n' }, 0.02)
    expect(first).toBeGreaterThan(0.015)
    expect(await ending).toMatchObject({ kind: 'reply', usage: { costUsd: first } })
    expect(server.requests.map(({ forced }) => forced)).toEqual(['submit_verdict'])
  })

  it('are not asked for again beyond it, where an answer breaks off', async () => {
    server.play((request) => ({ ...accept(request), delivery: { how: 'cut', after: 300, by: 'reset' } }))
    const { first, ending } = judge('openai-compatible', {}, 0.02)
    expect(await ending).toMatchObject({ kind: 'unavailable', usage: { costUsd: first, estimated: true } })
    expect(server.requests).toHaveLength(1)
  })
})
