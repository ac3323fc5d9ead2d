import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Answer, failure, say, use } from '../../../../testing/model-server/answers.ts'
import { canaryKey, providers } from '../../../../testing/model-server/model-judge.ts'
import { handIn, memoryTalk, openWorkBench, sampleCase } from '../../../../testing/model-server/model-worker.ts'
import { type ModelRequest, toolAnswers } from '../../../../testing/model-server/request.ts'
import { startModelServer } from '../../../../testing/model-server/server.ts'
import { inTurn, never, useWorkers } from '../../../../testing/model-server/workers.ts'

const { server, bench, limits, work, pricedAt } = await useWorkers()
const write = use('write_file', { path: 'core.txt', content: 'hello\n' })
const core = () => readFileSync(join(bench.workspace, 'core.txt'), 'utf8')

describe.each(providers)('a worker at %s', (provider) => {
  it('works by tools and hands in its case; everything used is told', async () => {
    const edit = use('edit_file', { path: 'core.txt', old: 'hello', new: 'hello world' })
    server.play(
      inTurn(
        write,
        edit,
        use('read_file', { path: 'core.txt' }),
        use('run', { argv: ['cat', 'core.txt'] }),
        handIn(sampleCase, 'All done.'),
      ),
    )
    const talk = memoryTalk()
    const ending = await bench.brain(provider).work(bench.order(talk, { instructions: 'Be brief.' }), never)
    const usage = { inputTokens: 500, outputTokens: 100, durationMs: expect.any(Number) }
    expect(ending).toEqual({ kind: 'handed_in', usage })
    expect(core()).toBe('hello world\n')
    expect(talk.told).toEqual([
      { kind: 'calling', tool: 'write_file' },
      { kind: 'called' },
      { kind: 'calling', tool: 'edit_file' },
      { kind: 'called' },
      { kind: 'calling', tool: 'run' },
      { kind: 'called' },
      { kind: 'submitted', raw: sampleCase, output: 'All done.', usage },
    ])
    const [, second, third, fourth, fifth] = server.requests.map(toolAnswers)
    expect(second).toContain('created: core.txt, 6 bytes')
    expect(third).toContain('changed: core.txt, at line 1')
    expect(fourth).toContain('lines 1 to 2 of 2\n1\thello world')
    expect(fifth).toContain('exit code 0\nstandard output:\nhello world')
    expect(server.requests[0]?.tools).toEqual(['read_file', 'write_file', 'edit_file', 'list', 'grep', 'run', 'submit_case'])
    expect(server.requests[0]?.text).toContain('Be brief.')
  })

  it('mends a case that was refused', async () => {
    server.play(inTurn(handIn('{}'), handIn()))
    const talk = memoryTalk([{ kind: 'refused', problems: ['summary is missing'] }])
    expect(await bench.brain(provider).work(bench.order(talk), never)).toMatchObject({ kind: 'handed_in' })
    expect(toolAnswers(server.requests[1] as ModelRequest)).toContain('- summary is missing')
  })

  it('goes on with the same conversation in another process, from between two calls', async () => {
    const stop = new AbortController()
    server.play((request) => {
      if (request.number === 1) return write
      stop.abort()
      return { ...say('late'), delivery: { how: 'hang', before: 'headers' } }
    })
    const before = memoryTalk()
    expect(await bench.brain(provider).work(bench.order(before), stop.signal)).toMatchObject({ kind: 'stopped' })
    const first = server.requests[1] as ModelRequest
    server.play(() => handIn())
    const after = memoryTalk([], before.stored)
    const ending = await bench.brain(provider).work(bench.order(after, { prompt: 'Another prompt.' }), never)
    expect(ending).toMatchObject({ kind: 'handed_in', usage: { inputTokens: 200, outputTokens: 40 } })
    expect(server.requests[0]?.json).toEqual(first.json)
  })

  it('hears what became of its case as the answer of that call, and the beginning stays as it was', async () => {
    server.play(inTurn(write, handIn()))
    const first = memoryTalk()
    await bench.brain(provider).work(bench.order(first), never)
    const [begun] = server.requests.map(said)
    server.play(inTurn(handIn()))
    const second = memoryTalk([], first.stored, 'weak_test: it tests nothing')
    await bench.brain(provider).work(bench.order(second, { attempt: 2, prompt: 'Another prompt.' }), never)
    const again = server.requests[0] as ModelRequest
    expect(toolAnswers(again)).toContain('weak_test: it tests nothing')
    expect(said(again).slice(0, begun?.length)).toEqual(begun)
    expect(again.text).not.toContain('Another prompt.')
  })
})

/** The messages of a request. */
function said({ json }: ModelRequest): unknown[] {
  return (json.messages ?? json.contents) as unknown[]
}

it('marks for Anthropic where its cache may end: after the task, and after the last message', async () => {
  server.play(inTurn(write, handIn()))
  await bench.brain('anthropic').work(bench.order(memoryTalk()), never)
  const marked = said(server.requests[1] as ModelRequest).map((message) => JSON.stringify(message).includes('cache_control'))
  expect(marked).toEqual([true, false, true])
})

describe('a worker that is cut off', () => {
  const resumed = async (stored: readonly string[], answer?: string) => {
    server.play(() => handIn())
    const talk = memoryTalk([], stored, answer)
    await bench.brain().work(bench.order(talk), never)
    return toolAnswers(server.requests[0] as ModelRequest)
  }

  it('does not do a call again that was open, and is told so', async () => {
    server.play(inTurn(use('run', { argv: ['sh', '-c', 'echo x >> beats'] })))
    const talk = memoryTalk()
    talk.called = () => Promise.reject(new Error('the machine went away'))
    await expect(bench.brain().work(bench.order(talk), never)).rejects.toThrow('the machine went away')
    expect(readFileSync(join(bench.workspace, 'beats'), 'utf8')).toBe('x\n')
    expect(await resumed(talk.stored)).toContain('cut off in the middle')
    expect(readFileSync(join(bench.workspace, 'beats'), 'utf8')).toBe('x\n')
  })

  it('does what it had asked for and what was never begun', async () => {
    const two: Answer = { ...write, calls: [...(write.calls ?? []), { name: 'write_file', args: '{"path":"second.txt","content":"2"}' }] }
    server.play(() => two)
    const talk = memoryTalk()
    const calling = talk.calling
    talk.calling = (tool, text) => (talk.told.length === 0 ? calling(tool, text) : Promise.reject(new Error('away')))
    await expect(bench.brain().work(bench.order(talk), never)).rejects.toThrow('away')
    expect(existsSync(join(bench.workspace, 'second.txt'))).toBe(false)
    expect(await resumed(talk.stored)).toContain('created: second.txt')
  })

  it('is stopped in the middle of a run, which is ended', async () => {
    const stop = new AbortController()
    server.play(() => use('run', { argv: ['sh', '-c', 'touch begun; sleep 600; touch ended'] }))
    const talk = memoryTalk()
    const ending = bench.brain().work(bench.order(talk), stop.signal)
    while (!existsSync(join(bench.workspace, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 10))
    stop.abort()
    expect(await ending).toMatchObject({ kind: 'stopped', detail: 'stopped in the middle of run' })
    expect(talk.told).toEqual([{ kind: 'calling', tool: 'run' }])
    expect(await resumed(talk.stored)).toContain('cut off in the middle')
  })

  it('hears failing checks once, however often it is stopped afterwards', async () => {
    server.play(inTurn(handIn()))
    const first = memoryTalk()
    await bench.brain().work(bench.order(first), never)
    const stop = new AbortController()
    server.play((request) => {
      if (request.number === 2) stop.abort()
      return write
    })
    const second = memoryTalk([], first.stored, 'Checks do not pass.')
    await bench.brain().work(bench.order(second), stop.signal)
    server.play(() => handIn())
    await bench.brain().work(bench.order(memoryTalk([], second.stored, 'Checks do not pass.')), never)
    expect(server.requests[0]?.text.split('Checks do not pass.')).toHaveLength(2)
  })

  it('is asked for its case again where nobody could tell it what was wrong', async () => {
    server.play(() => handIn('{}'))
    const talk = memoryTalk()
    const submit = talk.submit
    talk.submit = async (...given) => {
      await submit(...given)
      throw new Error('away')
    }
    await expect(bench.brain().work(bench.order(talk), never)).rejects.toThrow('away')
    expect(await resumed(talk.stored)).toContain('Call submit_case again')
  })

  it('loses nothing that was said with a case that was refused unread', async () => {
    server.play(inTurn(handIn(), write, handIn()))
    const talk = memoryTalk()
    const submit = talk.submit
    // The first case is refused before anything is stored, as where the workspace cannot be kept.
    talk.submit = async (...given) => (talk.told.length === 0 ? { kind: 'refused', problems: ['too many files'] } : submit(...given))
    await bench.brain().work(bench.order(talk), never)
    const last = said(server.requests.at(-1) as ModelRequest)
    server.play(() => handIn())
    await bench.brain().work(bench.order(memoryTalk([], talk.stored, 'Again.')), never)
    expect(said(server.requests[0] as ModelRequest).slice(0, last.length)).toEqual(last)
  })

  it('stops at once where it was stopped before', async () => {
    server.play(() => handIn())
    expect(await bench.brain().work(bench.order(memoryTalk()), AbortSignal.abort())).toMatchObject({ kind: 'stopped' })
    expect(server.requests).toHaveLength(0)
  })
})

it('says before every call with effects what was used until then', async () => {
  server.play(inTurn(write, use('run', { argv: ['true'] }), handIn()))
  const talk = memoryTalk()
  const used: unknown[] = []
  const calling: typeof talk.calling = (tool, said, usage) => {
    used.push(usage)
    return talk.calling(tool, said, usage)
  }
  await bench.brain().work(bench.order({ ...talk, calling }), never)
  expect(used).toMatchObject([{ inputTokens: 100 }, { inputTokens: 200, outputTokens: 40 }])
})

describe('a worker that does not come to an end', () => {
  it('goes quiet: it is reminded once', async () => {
    server.play(() => say('I am done.'))
    const { ending, talk } = await work()
    expect(ending).toMatchObject({ kind: 'handed_in' })
    expect(talk.told).toEqual([{ kind: 'quiet' }, { kind: 'quiet' }])
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.text).toContain('You stopped without handing in a case')
  })

  it('never hands in: its turns are counted over all processes, and their end is named', async () => {
    let count = 0
    const busy = () => use('write_file', { path: `${count++}.txt`, content: '' })
    server.play(busy)
    const { ending, talk } = await work({ work: { ...limits, turns: 7 } })
    expect(ending).toMatchObject({
      kind: 'failed',
      failure: 'error',
      detail: expect.stringContaining('no case after 7 turns'),
      beforeEffect: false,
    })
    expect(ending).toMatchObject({ usage: { inputTokens: 700 } })
    expect(server.requests[2]?.text).toContain('5 turns are left')
    server.play(busy)
    await work({ work: { ...limits, turns: 7 } }, memoryTalk([], talk.stored))
    expect(server.requests).toHaveLength(0)
  })

  it('loops: that is named to it, then it is over', async () => {
    server.play(() => use('list', {}))
    const { ending } = await work()
    expect(ending).toMatchObject({ kind: 'failed', detail: expect.stringContaining('goes round in circles: list {}') })
    expect(server.requests).toHaveLength(8)
    expect(toolAnswers(server.requests[4] as ModelRequest)).toContain('the same answer 4 times')
  })

  it.each<[string, (request: ModelRequest) => Answer, string]>([
    ['calls tools that do not exist', ({ number }) => use(`delete_${number}`, {}), 'There is no tool delete_1. There are read_file,'],
    ['gives arguments that are wrong', ({ number }) => use('run', { argv: number }), 'The arguments are wrong: argv'],
    ['gives arguments that are no JSON', ({ number }) => use('run', `{"argv":["${number}"`), 'The arguments are wrong: argv'],
    ['is cut at its length', () => ({ ...write, finish: 'length' }) as Answer, 'did not end as it should (length)'],
    ['is filtered', () => ({ ...write, finish: 'content-filter' }) as Answer, 'did not end as it should (content-filter)'],
  ])('%s: it is told, nothing is done, and that is bounded', async (_name, answer, told) => {
    server.play(answer)
    const { ending, talk } = await work()
    expect(ending).toMatchObject({ kind: 'failed', failure: 'error' })
    expect(server.requests).toHaveLength(5)
    expect(toolAnswers(server.requests[1] as ModelRequest)).toContain(told)
    expect(talk.told).toEqual([])
    expect(existsSync(join(bench.workspace, 'core.txt'))).toBe(false)
  })

  it('floods: answers, calls and conversations are bounded', async () => {
    const flood: Answer = { ...say('x'), delivery: { how: 'flood', bytes: 10 * 1024 * 1024 } }
    server.play(() => flood)
    expect((await work()).ending).toMatchObject({ kind: 'failed', failure: 'output', detail: expect.stringContaining('longer than') })
    server.play(() => ({
      kind: 'message',
      calls: Array.from({ length: 50 }, (_, at) => ({ name: 'write_file', args: `{"path":"${at}","content":""}` })),
    }))
    const many = await work({ work: { ...limits, turns: 1 } })
    expect(many.talk.told.filter(({ kind }) => kind === 'calling')).toHaveLength(16)
    server.play(({ number }) => use('write_file', { path: `${number}.txt`, content: 'y'.repeat(50_000) }))
    expect((await work({ work: { ...limits, outputBytes: 200_000 } })).ending).toMatchObject({
      kind: 'failed',
      failure: 'output',
      detail: expect.stringContaining('the conversation is longer'),
    })
  })

  it('costs too much, where prices are known', async () => {
    let count = 0
    server.play(() => use('write_file', { path: `${count++}.txt`, content: '' }))
    const brain = pricedAt(10_000, 0)
    const { ending } = await work({ brain, work: { ...limits, costUsd: 9 } })
    expect(ending).toMatchObject({ kind: 'failed', failure: 'error', detail: expect.stringContaining('at most $9 ') })
    expect(ending).toMatchObject({ usage: { costUsd: server.requests.length } })
    expect(server.requests.length, 'each costs a dollar, and could cost several').toBeGreaterThan(1)
    expect(server.requests.length).toBeLessThan(9)
    count = 0
    server.play(() => use('write_file', { path: `${count++}.txt`, content: '' }))
    const poor = await work({ brain, work: { ...limits, costUsd: 0.01 } })
    expect(poor.ending).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('has cost $0.0000, and its next request may cost'),
    })
    expect(server.requests).toHaveLength(0)
  })

  it('does not say what it used: that has cost what it could, over several processes', async () => {
    const silent = (answer: Answer): Answer => ({ ...answer, tokens: { input: -1, output: -1 } }) as Answer
    server.play(inTurn(silent(write), silent(handIn())))
    const { ending, talk } = await work({ brain: pricedAt(0, 1_000), maxOutputTokens: 1_000 })
    expect(ending).toMatchObject({ kind: 'handed_in', usage: { estimated: true } })
    const all = (ending as { usage: { costUsd: number } }).usage.costUsd
    expect(all).toBe(2)
    const again = memoryTalk([], talk.stored, 'Not good.')
    const next = await bench
      .brain('openai-compatible', { brain: pricedAt(0, 1_000), work: { ...limits, costUsd: all + 0.5 } })
      .work(bench.order(again), never)
    expect(next).toMatchObject({ kind: 'failed', detail: expect.stringContaining(`has cost $${all.toFixed(4)}`) })
  })

  it('takes too long: a run, or a model that does not answer', async () => {
    server.play(() => use('run', { argv: ['sleep', '600'] }))
    expect((await work({ work: { ...limits, attemptMs: 1_500 } })).ending).toMatchObject({ kind: 'failed', failure: 'timeout' })
    server.play(() => ({ ...say('x'), delivery: { how: 'hang', before: 'headers' } }))
    expect((await work({ work: { ...limits, attemptMs: 500 } })).ending).toMatchObject({
      kind: 'failed',
      failure: 'timeout',
      beforeEffect: false,
    })
  })
})

describe('a model that cannot be asked', () => {
  it('is asked again; what was done is not done twice', async () => {
    server.play(inTurn(failure(500), write, failure(429), handIn()))
    const talk = memoryTalk()
    expect(await bench.brain().work(bench.order(talk), never)).toMatchObject({ kind: 'handed_in' })
    expect(talk.told.filter(({ kind }) => kind === 'calling')).toHaveLength(1)
  })

  it('fails the attempt in plain words', async () => {
    server.play(() => failure(401, {}, `bad key ${canaryKey}`))
    const ending = await bench.brain().work(bench.order(memoryTalk()), never)
    expect(ending).toMatchObject({
      kind: 'failed',
      failure: 'error',
      beforeEffect: false,
      detail: expect.stringMatching(/HTTP 401: bad key \[key removed\]/),
    })
  })

  it('fails before any effect where nothing was ever sent', async () => {
    const gone = await startModelServer(() => handIn())
    await gone.close()
    const lonely = openWorkBench(gone)
    const ending = await lonely.brain().work(lonely.order(memoryTalk()), never)
    lonely.remove()
    expect(ending).toMatchObject({ kind: 'failed', failure: 'error', beforeEffect: true, detail: expect.stringContaining('ECONNREFUSED') })
  })

  it('is never shown the key', async () => {
    writeFileSync(join(bench.workspace, 'leak.txt'), `key=${canaryKey}\n`)
    server.play(inTurn(use('read_file', { path: 'leak.txt' }), use('run', { argv: ['env'] }), handIn()))
    const talk = memoryTalk()
    await bench.brain().work(bench.order(talk, { prompt: `Use ${canaryKey}` }), never)
    expect(server.requests.map(({ text }) => text).join()).not.toContain(canaryKey)
    expect(talk.stored.join()).not.toContain(canaryKey)
  })
})
