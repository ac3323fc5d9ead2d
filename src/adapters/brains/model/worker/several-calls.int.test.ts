import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../../testing/model-server/answers.ts'
import { providers } from '../../../../testing/model-server/model-judge.ts'
import { handIn, memoryTalk, sampleCase } from '../../../../testing/model-server/model-worker.ts'
import { type ModelRequest, toolAnswers } from '../../../../testing/model-server/request.ts'
import { never, useWorkers } from '../../../../testing/model-server/workers.ts'

const { server, bench } = await useWorkers()

const calls = (...made: [name: string, args: string][]): Message => ({
  kind: 'message',
  calls: made.map(([name, args]) => ({ name, args })),
})
const otherCase = sampleCase.replace('Wrote', 'Did not write')

/** Plays a first message, then a case; what the model heard in between. */
async function heard(
  first: Message,
  outcomes: Parameters<typeof memoryTalk>[0] = [],
  provider: (typeof providers)[number] = 'openai-compatible',
) {
  server.play(({ number }) => (number === 1 ? first : handIn()))
  const talk = memoryTalk(outcomes)
  const ending = await bench.brain(provider).work(bench.order(talk), never)
  return { ending, talk, answers: toolAnswers(server.requests[1] as ModelRequest) }
}

describe.each(providers)('a message of %s with more calls than are done', (provider) => {
  it('has every call answered, and the attempt goes on', async () => {
    const many = calls(...Array.from({ length: 40 }, (): [string, string] => ['list', '{}']))
    const { ending, talk, answers } = await heard(
      { ...many, calls: (many.calls ?? []).map((call, at) => ({ ...call, args: `{"path":"${at}"}` })) },
      [],
      provider,
    )
    expect(ending).toMatchObject({ kind: 'handed_in' })
    expect(talk.told).toMatchObject([{ kind: 'submitted', raw: sampleCase }])
    expect(answers.match(/Not done: at most 16 calls/g)).toHaveLength(24)
  })
})

it('the same call too often in one message does not end the attempt by those that are not done', async () => {
  const many = Array.from({ length: 40 }, (_, at): [string, string] => ['read_file', at < 16 ? `{"path":"${at}.txt"}` : '{"path":"x"}'])
  expect((await heard(calls(...many))).ending).toMatchObject({ kind: 'handed_in' })
})

describe('two cases in one message', () => {
  it('that differ are both refused, and the model is told', async () => {
    const { ending, talk, answers } = await heard(calls(['submit_case', otherCase], ['submit_case', sampleCase]))
    expect(answers.match(/several different cases in one message/g)).toHaveLength(2)
    expect(ending).toMatchObject({ kind: 'handed_in' })
    expect(talk.told).toMatchObject([
      { kind: 'refused', why: expect.stringContaining('several different cases'), raw: `${otherCase}\n${sampleCase}` },
      { kind: 'submitted', raw: sampleCase },
    ])
    expect(server.requests).toHaveLength(2)
  })

  it('that are the same are one', async () => {
    server.play(() => calls(['submit_case', sampleCase], ['submit_case', sampleCase]))
    const talk = memoryTalk()
    expect(await bench.brain().work(bench.order(talk), never)).toMatchObject({ kind: 'handed_in' })
    expect(talk.told).toMatchObject([{ kind: 'submitted', raw: sampleCase }])
    expect(server.requests).toHaveLength(1)
  })

  it('go on being handed in: that comes to an end', async () => {
    server.play(() => calls(['submit_case', otherCase], ['submit_case', sampleCase]))
    const refused = { kind: 'refused' as const, problems: ['two'] }
    const talk = memoryTalk([refused, refused, { kind: 'over' }])
    const usage = { inputTokens: 300, outputTokens: 60 }
    expect(await bench.brain().work(bench.order(talk), never)).toMatchObject({ kind: 'handed_in', usage })
    expect(talk.told).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }, { kind: 'refused', usage }])
  })
})

describe('arguments that say something twice', () => {
  it('are not understood in one way or the other', async () => {
    const { answers, talk } = await heard(calls(['write_file', '{"path":"a.txt","path":"b.txt","content":"x"}']))
    expect(answers).toContain('say something twice')
    expect(talk.told).toMatchObject([{ kind: 'submitted' }])
    expect([existsSync(join(bench.workspace, 'a.txt')), existsSync(join(bench.workspace, 'b.txt'))]).toEqual([false, false])
  })

  it('are no case: whoever reads cases says so', async () => {
    const twice = sampleCase.replace('{', '{"summary":"Something else.",')
    const { answers, talk } = await heard(calls(['submit_case', twice]), [{ kind: 'refused', problems: ['a key appears twice'] }])
    expect(answers).toContain('a key appears twice')
    expect(talk.told, 'as it came, for the reader of cases').toMatchObject([
      { kind: 'submitted', raw: twice },
      { kind: 'submitted', raw: sampleCase },
    ])
  })
})
