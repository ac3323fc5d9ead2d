import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readReply } from '../../../core/verdict/read.ts'
import type { JudgeEnding, JudgeQuestion } from '../../../ports/brain.ts'
import { accept, type Answer, failure, reject, say, submit, use } from '../../../testing/model-server/answers.ts'
import { judgeQuestion, memoryReader, modelJudge, providers } from '../../../testing/model-server/model-judge.ts'
import { type ModelRequest, toolAnswers } from '../../../testing/model-server/request.ts'
import { type ModelServer, startModelServer } from '../../../testing/model-server/server.ts'
import { acceptingVerdict } from '../../../testing/sample-verdict.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(accept)
})
afterAll(() => server.close())

const question = judgeQuestion({ 'core.txt': 'hello\nworld\n', 'src/a.ts': 'export const answer = 42\n' })
const never = new AbortController().signal

function verdictOf(ending: JudgeEnding, about: JudgeQuestion = question): string {
  if (ending.kind !== 'reply') return JSON.stringify(ending)
  const read = readReply(ending.reply, about)
  return read.kind === 'verdict' ? read.verdict.verdict : JSON.stringify(read)
}

/** Plays these answers one after the other; the last goes on. */
const inTurn =
  (...answers: ((request: ModelRequest) => Answer)[]) =>
  (request: ModelRequest): Answer =>
    (answers[Math.min(request.number, answers.length) - 1] as (request: ModelRequest) => Answer)(request)

describe.each(providers)('a judge at %s', (provider) => {
  it('accepts and rejects, and what was used is told', async () => {
    server.play(accept)
    const accepted = await modelJudge(server, provider).judge(question, never)
    expect(verdictOf(accepted)).toBe('accept')
    expect(accepted).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20, durationMs: expect.any(Number) } })
    server.play(reject)
    expect(verdictOf(await modelJudge(server, provider).judge(question, never))).toBe('reject')
  })

  it('hands over the very text of the arguments', async () => {
    const odd = (request: ModelRequest) =>
      JSON.stringify(acceptingVerdict(question, { concern: `number ${request.number}: "}]\\ \u2028 ü 🙂` }), null, 1)
    server.play((request) => submit(odd(request)))
    const ending = await modelJudge(server, provider).judge(question, never)
    expect(ending.kind === 'reply' && ending.reply.body).toBe(odd(server.requests[0] as ModelRequest))
    expect(verdictOf(ending)).toBe('accept')
  })

  it('looks around by tools, then answers; all requests are counted', async () => {
    server.play(
      inTurn(
        () => use('list', {}),
        () => use('read_file', { path: 'core.txt' }),
        () => use('grep', { pattern: 'answer = \\d+' }),
        accept,
      ),
    )
    const ending = await modelJudge(server, provider).judge(question, never)
    expect(verdictOf(ending)).toBe('accept')
    expect(ending).toMatchObject({ usage: { inputTokens: 400, outputTokens: 80 } })
    const [first, second, third, fourth] = server.requests.map(toolAnswers)
    expect(first).toBe('')
    expect(second).toContain('core.txt\t12')
    expect(third).toContain(`<<<FILE core.txt ${question.nonce}\n1\thello\n2\tworld`)
    expect(fourth).toContain('src/a.ts:1: export const answer = 42')
    expect(server.requests[0]?.tools).toEqual(['read_file', 'list', 'grep', 'submit_verdict'])
  })

  it('has to answer when its turns are used up, and only then', async () => {
    server.play((request) => (request.forced === undefined ? use('list', {}) : accept(request)))
    expect(verdictOf(await modelJudge(server, provider, { readingTurns: 2 }).judge(question, never))).toBe('accept')
    expect(server.requests.map((request) => request.forced)).toEqual([undefined, undefined, 'submit_verdict'])
  })

  it('that goes on reading for ever is cut off without a verdict', async () => {
    server.play(() => use('list', {}))
    const ending = await modelJudge(server, provider, { readingTurns: 2 }).judge(question, never)
    expect(server.requests).toHaveLength(3)
    expect(ending).toMatchObject({ kind: 'reply', reply: { channel: 'text', finish: 'wrong tool called' } })
    expect(verdictOf(ending)).toContain('unreadable')
  })

  it('has to answer at once where there is nothing to read', async () => {
    server.play(accept)
    expect(verdictOf(await modelJudge(server, provider).judge(judgeQuestion(), never))).toBe('accept')
    expect(server.requests.map(({ forced, tools }) => ({ forced, tools }))).toEqual([
      { forced: 'submit_verdict', tools: ['submit_verdict'] },
    ])
  })

  it('may answer by text, forced or not; it arrives as text, and its use is counted', async () => {
    for (const about of [question, judgeQuestion()]) {
      server.play(() => say(JSON.stringify(acceptingVerdict(about))))
      const ending = await modelJudge(server, provider).judge(about, never)
      expect(ending).toMatchObject({ kind: 'reply', reply: { channel: 'text' }, usage: { inputTokens: 100 } })
      expect(verdictOf(ending, about)).toBe('accept')
    }
  })

  it('may say the same verdict twice in one turn', async () => {
    const same = JSON.stringify(acceptingVerdict(question))
    server.play(() => submit(same, same))
    expect(verdictOf(await modelJudge(server, provider).judge(question, never))).toBe('accept')
  })

  it('gets instructions of its own, unless the question begins with them', async () => {
    server.play(accept)
    const own = 'Look for what is missing.'
    await modelJudge(server, provider).judge({ ...question, instructions: own }, never)
    await modelJudge(server, provider).judge({ ...question, instructions: own, prompt: `${own}\n\n${question.prompt}` }, never)
    expect(server.requests.map(({ text }) => text.split(own).length - 1)).toEqual([1, 1])
  })

  it('adds up what failed requests used', async () => {
    server.play(
      inTurn(
        () => use('list', {}),
        () => failure(500),
        () => failure(503),
        () => failure(500),
      ),
    )
    const ending = await modelJudge(server, provider, { retries: 2 }).judge(question, never)
    expect(ending).toMatchObject({ kind: 'unavailable', usage: { inputTokens: 100, outputTokens: 20 } })
    expect(server.requests).toHaveLength(4)
  })
})

describe('the schema of submit_verdict', () => {
  it.each(providers)('carries nonce, ids, names and categories, as %s takes it', async (provider) => {
    server.play(accept)
    await modelJudge(server, provider).judge(question, never)
    const { text = '' } = server.requests[0] ?? {}
    for (const part of ['["AC1","AC2","AC3"]', '["correctness","completeness"]', '["P1"]', '"scope_creep"', '"spec_violation"']) {
      expect(text).toContain(part)
    }
    expect(text).toContain(provider === 'google' ? `"enum":["${question.nonce}"]` : `"const":"${question.nonce}"`)
    expect(text.includes('"const"')).toBe(provider !== 'google')
    expect(text.includes('"strict":true')).toBe(provider === 'openai')
  })

  it('is not strict where it is larger than OpenAI takes', async () => {
    server.play(accept)
    const criteria = Array.from({ length: 600 }, (_, index) => ({ id: `AC${index + 1}`, text: 'x', hard: true }))
    await modelJudge(server, 'openai').judge({ ...question, criteria }, never)
    expect(server.requests[0]?.text).toContain('"AC600"')
    expect(server.requests[0]?.text).not.toContain('"strict":true')
  })
})

describe('what a judge can see', () => {
  it.each([
    '../core.txt',
    '/etc/passwd',
    '/core.txt',
    './core.txt',
    'src/../core.txt',
    'core.txt\0',
    'core.txt/',
    'CORE.TXT',
    'src\\a.ts',
    '__proto__',
  ])('is nothing at %j', async (path) => {
    const reader = memoryReader({ 'core.txt': 'hello', 'src/a.ts': '42' })
    server.play(inTurn(() => use('read_file', { path }), reject))
    await modelJudge(server, 'openai-compatible').judge({ ...question, reader }, never)
    expect(toolAnswers(server.requests[1] as ModelRequest)).toContain('There is no file')
    expect(reader.strays).toEqual([])
  })

  it.each([
    ['no such tool', use('run_shell', { command: 'id' }), 'There is no tool'],
    ['wrong arguments', use('read_file', { path: 42 }), 'The arguments of read_file are wrong'],
    ['arguments that are no JSON', use('grep', '{"pattern": '), 'The arguments of grep are wrong'],
  ])('%s: answered in words', async (_, call, words) => {
    server.play(inTurn(() => call, reject))
    expect(verdictOf(await modelJudge(server, 'openai-compatible').judge(question, never))).toBe('reject')
    expect(toolAnswers(server.requests[1] as ModelRequest)).toContain(words)
  })

  it('is at most so many answers in a turn, and so many characters in a sitting', async () => {
    const many = { kind: 'message' as const, calls: Array.from({ length: 20 }, () => ({ name: 'read_file', args: '{"path":"core.txt"}' })) }
    server.play(inTurn(() => many, reject))
    await modelJudge(server, 'openai-compatible', { maxReadingChars: 250 }).judge(question, never)
    const answers = toolAnswers(server.requests[1] as ModelRequest)
    expect(answers.match(/Not answered/g)).toHaveLength(4)
    expect(answers.match(/1\thello/g)?.length).toBeLessThan(4)
    expect(answers).toContain('this sitting may read no more')
  })
})

describe('an end from outside', () => {
  it.each(['headers', 'body'] as const)('while the server hangs before %s: stopped, and the server is hung up on', async (before) => {
    const controller = new AbortController()
    server.play((request) => {
      setTimeout(() => controller.abort(), 20)
      return { ...accept(request), delivery: { how: 'hang', before } }
    })
    expect(await modelJudge(server, 'openai-compatible').judge(question, controller.signal)).toEqual({ kind: 'stopped' })
    expect(await server.requests[0]?.ended).toBe('abandoned')
    expect(server.requests).toHaveLength(1)
  })

  it('in a pause between two requests: stopped', async () => {
    const controller = new AbortController()
    server.play(() => {
      setTimeout(() => controller.abort(), 50)
      return failure(429, { 'retry-after': '20' })
    })
    expect(await modelJudge(server, 'openai-compatible').judge(question, controller.signal)).toEqual({ kind: 'stopped' })
    expect(server.requests).toHaveLength(1)
  })

  it('before it begins: stopped, and nothing is sent', async () => {
    server.play(accept)
    expect(await modelJudge(server, 'openai-compatible').judge(question, AbortSignal.abort())).toEqual({ kind: 'stopped' })
    expect(server.requests).toHaveLength(0)
  })

  it('of time for the sitting: unavailable, and the server is hung up on', async () => {
    server.play((request) => ({ ...accept(request), delivery: { how: 'hang', before: 'headers' } }))
    const ending = await modelJudge(server, 'openai-compatible', { sittingMs: 700 }).judge(question, never)
    expect(ending).toMatchObject({ kind: 'unavailable', detail: 'the sitting was not over after 700 ms' })
    expect(await server.requests[0]?.ended).toBe('abandoned')
  })

  it.each([
    { 'retry-after': '3600' },
    { 'retry-after': new Date(Date.now() + 4 * 3600_000).toUTCString() },
    { 'retry-after-ms': '3600000' },
  ])('that the server asks to wait beyond, by %j: not waited for', async (headers) => {
    server.play(() => failure(429, headers as Record<string, string>))
    const ending = await modelJudge(server, 'openai-compatible', { retries: 5 }).judge(question, never)
    expect(ending).toMatchObject({ kind: 'unavailable', detail: expect.stringMatching(/to ask again in \d{4,5} s would be after the end/) })
    expect(server.requests).toHaveLength(1)
  })

  it('is heeded by the patient way to the server too, which waits longer than Node does', async () => {
    const patient = { requestMs: 900_000, sittingMs: 3_600_000 }
    server.play(accept)
    const judge = modelJudge(server, 'openai-compatible', patient)
    expect(verdictOf(await judge.judge(question, never))).toBe('accept')
    const controller = new AbortController()
    server.play((request) => {
      setTimeout(() => controller.abort(), 20)
      return { ...accept(request), delivery: { how: 'hang', before: 'body' } }
    })
    expect(await judge.judge(question, controller.signal)).toEqual({ kind: 'stopped' })
    expect(await server.requests[0]?.ended).toBe('abandoned')
    await judge.close()
  })
})

describe('a server that cannot be reached', () => {
  it('is asked again, then unavailable, in plain words', async () => {
    const gone = await startModelServer(accept)
    await gone.close()
    const ending = await modelJudge(gone, 'openai-compatible').judge(question, never)
    expect(ending).toMatchObject({ kind: 'unavailable', detail: 'the connection failed (ECONNREFUSED)' })
  })
})

describe('a sitting that may cost so much', () => {
  // A dollar for each token that comes back; the server says 20 of them each time.
  const prices = { inputPerMillion: 0, outputPerMillion: 1_000_000 }
  const judged = (budgetUsd: number, maxOutputTokens: number) => {
    server.play((request) => (request.forced === undefined ? use('list', {}) : accept(request)))
    const baseURL = server.baseURL('openai-compatible')
    const brain = { kind: 'model' as const, provider: 'openai-compatible' as const, model: 'any', baseURL, prices }
    return modelJudge(server, 'openai-compatible', { brain, maxOutputTokens }).judge({ ...question, budgetUsd }, never)
  }

  it('has to answer while the answer can be paid', async () => {
    expect(verdictOf(await judged(65, 30))).toBe('accept')
    expect(server.requests.map(({ forced }) => forced)).toEqual([undefined, 'submit_verdict'])
    expect(verdictOf(await judged(35, 30))).toBe('accept')
    expect(server.requests.map(({ forced }) => forced)).toEqual(['submit_verdict'])
  })

  it('makes no request that could pass the bound', async () => {
    expect(await judged(11, 5)).toMatchObject({ kind: 'unavailable', detail: expect.stringContaining('may cost'), usage: { costUsd: 20 } })
    expect(server.requests).toHaveLength(1)
  })
})
