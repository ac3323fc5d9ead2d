import { describe, expect, it } from 'vitest'
import { use } from '../../../../testing/model-server/answers.ts'
import { handIn, memoryTalk } from '../../../../testing/model-server/model-worker.ts'
import { type ModelRequest, toolAnswers } from '../../../../testing/model-server/request.ts'
import { inTurn, never, useWorkers } from '../../../../testing/model-server/workers.ts'

const { server, bench, limits, work, pricedAt } = await useWorkers()

describe('a worker whose process ends before it does', () => {
  it('only looks around: its turns and what they cost count after a stop, and after a crash but for a few', async () => {
    const looks = (until?: AbortController) => {
      let count = 0
      server.play(() => {
        count += 1
        if (count === 6) until?.abort()
        return use('grep', { pattern: `x${count}-${server.requests.length}-${until ? 'a' : 'b'}` })
      })
    }
    const bounded = { work: { ...limits, turns: 10 } }
    const stop = new AbortController()
    looks(stop)
    const first = memoryTalk()
    expect(await bench.brain('openai-compatible', bounded).work(bench.order(first), stop.signal)).toMatchObject({ kind: 'stopped' })
    const before = server.requests.length
    looks()
    const second = memoryTalk([], first.stored)
    expect((await work(bounded, second)).ending).toMatchObject({ detail: expect.stringContaining('no case after 10 turns') })
    expect(before + server.requests.length).toBeLessThanOrEqual(11)
    expect(second.told, 'what a crash would leave').toEqual([])
    looks()
    const third = (await work({ work: { ...limits, turns: 14 } })).talk
    expect(third.told).toEqual([{ kind: 'kept' }, { kind: 'kept' }])
    looks()
    const priced = await work({ brain: pricedAt(10, 0), work: { ...limits, turns: 4, costUsd: 9 } })
    expect(priced.talk.told, 'each is kept where money is bounded').toHaveLength(3)
  })

  it('hears after a crash what was wrong with its case', async () => {
    server.play(inTurn(handIn('{}'), handIn()))
    const first = memoryTalk([{ kind: 'refused', problems: ['summary is missing'] }, { kind: 'taken' }])
    await work({}, first)
    const cut = memoryTalk([], first.stored.slice(0, 1), undefined, ['summary is missing'])
    server.play(inTurn(handIn()))
    expect((await work({}, cut)).ending).toMatchObject({ kind: 'handed_in' })
    expect(toolAnswers(server.requests[0] as ModelRequest)).toContain('- summary is missing')
    expect(server.requests[0]?.text).not.toContain('Assay ended before it could answer')
  })

  it('may say as much in each attempt', async () => {
    const long = use('write_file', { path: 'long.txt', content: 'y'.repeat(60_000) })
    server.play(inTurn(long, handIn()))
    const bounded = { work: { ...limits, outputBytes: 100_000 } }
    const { talk } = await work(bounded)
    server.play(inTurn(long, handIn()))
    const again = memoryTalk([], talk.stored, 'Not good enough.')
    const ending = await bench.brain('openai-compatible', bounded).work(bench.order(again, { attempt: 2 }), never)
    expect(ending).toMatchObject({ kind: 'handed_in' })
  })
})
