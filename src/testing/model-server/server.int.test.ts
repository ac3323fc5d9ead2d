import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accept, failure, say, use } from './answers.ts'
import { askedAbout, type Dialect } from './request.ts'
import { type ModelServer, startModelServer } from './server.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(() => say('hello'))
})
afterAll(() => server.close())

const schema = {
  properties: {
    nonce: { const: 'n1' },
    prior: { maxItems: 0, items: { properties: { ref: { type: 'string' } } } },
    criteria: { items: { properties: { id: { enum: ['AC1', 'AC2'] } } } },
    dimensions: { items: { properties: { name: { enum: ['correctness'] } } } },
  },
}
const bodies: Record<Dialect, unknown> = {
  chat: { tools: [{ type: 'function', function: { name: 'submit_verdict', parameters: schema } }] },
  messages: { tools: [{ name: 'submit_verdict', input_schema: schema }], tool_choice: { type: 'tool', name: 'submit_verdict' } },
  generate: { tools: [{ functionDeclarations: [{ name: 'submit_verdict', parametersJsonSchema: schema }] }] },
  responses: { tools: [{ type: 'function', name: 'submit_verdict', parameters: schema }] },
}
const dialects: [Dialect, string][] = [
  ['chat', 'chat/completions'],
  ['messages', 'messages'],
  ['generate', 'models/any:generateContent'],
  ['responses', 'responses'],
]

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(`${server.baseURL('openai')}/${path}`, { method: 'POST', headers: { 'x-mine': 'yes' }, body: JSON.stringify(body) })

describe.each(dialects)('the %s dialect', (dialect, path) => {
  it('is answered in kind, and what arrived is kept', async () => {
    server.play((request) => (request.number === 1 ? use('list', { prefix: 'x' }) : accept(request)))
    const first: unknown = await (await post(path, bodies[dialect])).json()
    expect(JSON.stringify(first)).toContain('list')
    const second = JSON.stringify(await (await post(path, bodies[dialect])).json())
    expect(second).toContain('n1')
    expect(second).toContain('AC2')
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]).toMatchObject({ number: 2, dialect, tools: ['submit_verdict'], json: bodies[dialect] })
    expect(server.requests[1]?.headers['x-mine']).toBe('yes')
    expect(askedAbout(server.requests[1] as never)).toMatchObject({ nonce: 'n1', points: [], criteria: [{ id: 'AC1' }, { id: 'AC2' }] })
    expect(await server.requests[1]?.ended).toBe('answered')
  })
})

describe('deliveries', () => {
  it.each([
    { how: 'trickle', everyMs: 0 },
    { how: 'late', afterMs: 5 },
    { how: 'flood', bytes: 200_000 },
  ] as const)('%j brings the whole answer', async (delivery) => {
    server.play(() => ({ ...say('hello'), delivery }))
    const text = await (await post('chat/completions', bodies.chat)).text()
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'hello' } }] })
    expect(server.requests[0]?.sent).toBe(text.length)
  })

  it('cuts after so many bytes, by an end or by a reset', async () => {
    server.play(() => ({ ...say('hello'), delivery: { how: 'cut', after: 7, by: 'end' } }))
    expect(await (await post('chat/completions', bodies.chat)).text()).toBe('{"id":"')
    expect(await server.requests[0]?.ended).toBe('broken')
    server.play(() => ({ ...say('hello'), delivery: { how: 'cut', after: 7, by: 'reset' } }))
    await expect(post('chat/completions', bodies.chat).then((response) => response.text())).rejects.toThrow()
    expect(await server.requests[0]?.ended).toBe('broken')
  })

  it('hangs until the client hangs up', async () => {
    server.play(() => ({ ...say('hello'), delivery: { how: 'hang', before: 'headers' } }))
    const controller = new AbortController()
    const asked = fetch(`${server.baseURL('openai')}/chat/completions`, { method: 'POST', body: '{}', signal: controller.signal })
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    await expect(asked).rejects.toThrow()
    expect(await server.requests[0]?.ended).toBe('abandoned')
  })
})

it('fails as it is told, and knows no other addresses', async () => {
  server.play(() => failure(429, { 'retry-after': '7' }))
  const refused = await post('messages', bodies.messages)
  expect([refused.status, refused.headers.get('retry-after'), server.requests[0]?.forced]).toEqual([429, '7', 'submit_verdict'])
  expect((await post('embeddings', {})).status).toBe(404)
})

it('drops the connection when the script breaks, and goes on', async () => {
  server.play((request) => {
    if (request.number === 1) throw new Error('a mistake in the script')
    return say('hello')
  })
  await expect(post('messages', bodies.messages)).rejects.toThrow()
  expect((await post('messages', bodies.messages)).status).toBe(200)
})
