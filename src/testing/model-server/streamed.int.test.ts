import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, type LanguageModel, streamText } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { say } from './answers.ts'
import { type ModelServer, startModelServer } from './server.ts'

let server: ModelServer
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false
  server = await startModelServer(() => say('hello'))
})
afterAll(() => server.close())

const models: Record<string, () => LanguageModel> = {
  chat: () => createOpenAI({ baseURL: server.baseURL('openai'), apiKey: 'k' }).chat('any'),
  responses: () => createOpenAI({ baseURL: server.baseURL('openai'), apiKey: 'k' }).responses('any'),
  messages: () => createAnthropic({ baseURL: server.baseURL('anthropic'), apiKey: 'k' })('any'),
  generate: () => createGoogle({ baseURL: server.baseURL('google'), apiKey: 'k' })('any'),
}

/** What a client makes of an answer that comes piece by piece. */
async function asked(dialect: string) {
  const model = models[dialect]?.()
  if (model === undefined) throw new Error(dialect)
  const inputSchema = jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } })
  const stream = streamText({ model, prompt: 'Hello', tools: { list: { inputSchema } }, maxRetries: 0 })
  const { inputTokens, outputTokens } = await stream.usage
  const calls = (await stream.toolCalls).map(({ toolName, input }) => ({ toolName, input }))
  return { text: await stream.text, calls, finish: await stream.finishReason, tokens: [inputTokens, outputTokens] }
}

describe.each(Object.keys(models))('the %s dialect, streamed', (dialect) => {
  it('brings text and calls whole, with what they used', async () => {
    server.play(() => ({ kind: 'message', text: 'I look.', calls: [{ name: 'list', args: '{"path":"src"}' }] }))
    expect(await asked(dialect)).toEqual({
      text: 'I look.',
      calls: [{ toolName: 'list', input: { path: 'src' } }],
      finish: 'tool-calls',
      tokens: [100, 20],
    })
    expect(server.requests[0]).toMatchObject({ dialect, streamed: true, tools: ['list'] })
  })

  it('says that it was cut', async () => {
    server.play(() => say('To be', 'length'))
    expect(await asked(dialect)).toMatchObject({ finish: 'length' })
  })
})
