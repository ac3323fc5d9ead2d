import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accept, failure, type Answer, page, say, submit, use } from '../../../testing/model-server/answers.ts'
import { canaryKey, judgeQuestion, modelJudge, providers } from '../../../testing/model-server/model-judge.ts'
import type { ModelRequest } from '../../../testing/model-server/request.ts'
import { type ModelServer, startModelServer } from '../../../testing/model-server/server.ts'
import { acceptingVerdict } from '../../../testing/sample-verdict.ts'
import { openModelBrain } from './brain.ts'
import { formatProblem } from '../../../contract/source/problem.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(accept)
})
afterAll(() => server.close())

const question = judgeQuestion({ 'core.txt': `stolen: ${canaryKey}` })
const never = new AbortController().signal
const headerOf = {
  'openai-compatible': 'authorization',
  openai: 'authorization',
  anthropic: 'x-api-key',
  google: 'x-goog-api-key',
} as const

/** Longest piece of the key that a text has. */
function leak(text: string): number {
  let longest = 0
  for (let start = 0; start < canaryKey.length; start += 1) {
    let end = start + longest + 1
    while (end <= canaryKey.length && text.toLowerCase().includes(canaryKey.slice(start, end).toLowerCase())) {
      longest = end - start
      end += 1
    }
  }
  return longest
}

describe.each(providers)('the key for %s', (provider) => {
  const echoed = ({ headers }: ModelRequest): string => String(headers[headerOf[provider]])

  const echoes: [string, (request: ModelRequest) => Answer][] = [
    ['in an error', (request) => failure(401, {}, `bad key: ${echoed(request)}`)],
    ['in an error, all headers', (request) => failure(400, {}, JSON.stringify(request.headers))],
    ['in an error, shortened', (request) => failure(403, {}, `bad key ${echoed(request).slice(0, -9)}***`)],
    ['in an error, in capitals', (request) => failure(403, {}, `bad key ${echoed(request).toUpperCase()}`)],
    ['in an error, as base64', (request) => failure(403, {}, `bad key ${Buffer.from(canaryKey + request.number).toString('base64')}`)],
    ['in a page', (request) => page(`<html>${echoed(request)}</html>`, 'text/html')],
    ['in the content type', (request) => page('{}', `text/${echoed(request).replaceAll(' ', '-')}`)],
    ['in text', (request) => say(`the key is ${echoed(request)}`)],
    ['in a verdict', (request) => submit(JSON.stringify(acceptingVerdict(question, { concern: echoed(request) })))],
    ['in the name of a tool', (request) => use(echoed(request), {})],
  ]
  it.each(echoes)('is sent as the provider wants it, and never comes out again: %s', async (_, script) => {
    server.play(script)
    const ending = await modelJudge(server, provider).judge(question, never)
    expect(server.requests.length).toBeGreaterThan(0)
    for (const request of server.requests) expect(echoed(request)).toContain(canaryKey)
    const told = JSON.stringify(ending)
    expect(leak(told)).toBeLessThan(10)
    expect(told).not.toContain(Buffer.from(canaryKey).toString('base64').slice(8, 24))
  })

  it('is not in any prompt, though the work has it', async () => {
    server.play((request) => (request.number === 1 ? use('read_file', { path: 'core.txt' }) : accept(request)))
    const ending = await modelJudge(server, provider).judge(
      { ...question, prompt: `Judge this: ${canaryKey}`, instructions: canaryKey },
      never,
    )
    expect(ending.kind).toBe('reply')
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.text).toContain('stolen: [key removed]')
    for (const { text } of server.requests) expect(text).not.toContain(canaryKey)
  })

  it('goes to no other address', async () => {
    const other = await startModelServer(accept)
    try {
      const location = `${other.baseURL(provider)}/messages`
      server.play(() => ({ kind: 'page', status: 307, headers: { location }, body: '' }))
      const ending = await modelJudge(server, provider).judge(question, never)
      expect(ending).toMatchObject({ kind: 'unavailable', detail: expect.stringContaining('redirects') })
      expect(server.requests).toHaveLength(1)
      expect(other.requests).toHaveLength(0)
    } finally {
      await other.close()
    }
  })

  it("that is not set is a problem before anything starts; a server of one's own is asked without, with a notice", async () => {
    const notices: string[] = []
    const brain = { kind: 'model', provider, model: 'any', baseURL: server.baseURL(provider), apiKeyEnv: 'JUDGE_KEY' } as const
    const notice = (message: string) => void notices.push(message)
    const limits = { requestMs: 30_000, sittingMs: 60_000, readingTurns: 1, maxReplyBytes: 65_536, maxReadingChars: 10_000 }
    const work = { attemptMs: 60_000, turns: 5, outputBytes: 65_536, caseBytes: 65_536 }
    const premises = { configDir: '/nowhere' }
    const opened = openModelBrain({
      ...limits,
      premises,
      work,
      name: 'judge',
      brain,
      env: {},
      notice,
      verdictSchema: () => ({ type: 'object' }),
    })
    if (provider !== 'openai-compatible') {
      expect(opened.ok ? '' : opened.error.map(formatProblem).join()).toContain('JUDGE_KEY is not set')
      return
    }
    server.play(() => say('hm'))
    if (opened.ok) await opened.value.judge(question, never)
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
    expect(notices).toEqual(['brain judge: JUDGE_KEY is not set, so no key is sent'])
  })
})
