import { afterEach, describe, expect, it } from 'vitest'
import type { BrainPort, Talk, WorkEnding } from '../../../ports/brain.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
  stopGrace: '100ms',
  limits: { workerLease: '1s' },
}
const goodCase = JSON.stringify({ summary: 'Did it.', ac_coverage: [] })

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

const talker = (work: (talk: Talk, turn: number, signal: AbortSignal) => Promise<WorkEnding>): BrainPort => {
  let turns = 0
  return {
    conversational: true,
    work: ({ talk }, signal) => {
      turns += 1
      if (!talk) throw new Error('a conversational brain was given no talk')
      return work(talk, turns, signal)
    },
    judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
    close: async () => {},
  }
}
const eyes = (...scores: number[]): BrainPort => ({
  conversational: false,
  work: async () => ({ kind: 'failed', failure: 'error', detail: 'a judge does not work', output: '', beforeEffect: false }),
  judge: async () => ({ kind: 'reply', reply: { channel: 'text', body: `Say hello.\nSCORE: ${scores.shift() ?? 90}` } }),
  close: async () => {},
})

async function begin(hands: BrainPort, judge: BrainPort = eyes(), checks: { outcomes: ('pass' | 'fail')[] } = { outcomes: [] }) {
  const shop = openWorkshop({ config, brains: { hands, eyes: judge } })
  open.push(shop)
  shop.parts.checks = {
    run: async (id, { kind }) => ({
      id,
      kind,
      outcome: checks.outcomes.shift() ?? 'pass',
      summary: 'so it is',
      output: 'its output',
      findings: [],
    }),
  }
  const spec = specWith({ id: 'plan/a', criteria: [], mission: 'plan', checks: [{ kind: 'text', contains: ['work'] }] })
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
  if (!started.ok) throw new Error(started.error.message)
  const run = (stop = new AbortController().signal) => shop.engine.run({ missions: [started.value.mission], stop })
  const types = async () => (await shop.parts.journal.readStream('task/plan-1/a')).map(({ type }) => type)
  return { run, types, engine: shop.engine, journal: shop.parts.journal }
}

describe('a worker that talks', () => {
  it('goes on after a rejection with the feedback as the answer, everything said before it at hand', async () => {
    const heard: [readonly string[], string | undefined][] = []
    const hands = talker(async (talk, turn) => {
      heard.push([talk.stored, talk.answer])
      await talk.submit(goodCase, `said ${turn}`, `work ${turn}`)
      return { kind: 'handed_in' }
    })
    const { run, engine } = await begin(hands, eyes(30, 90))
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(heard[0]).toEqual([[], undefined])
    expect(heard[1]?.[0]).toEqual(['said 1'])
    expect(heard[1]?.[1]).toContain('Say hello.')
    expect((await engine.task('plan-1/a'))?.attempts).toBe(2)
  })

  it('hears failing checks within the same attempt', async () => {
    const answers: (string | undefined)[] = []
    const hands = talker(async (talk, turn) => {
      answers.push(talk.answer)
      await talk.submit(goodCase, `said ${turn}`, `work ${turn}`)
      return { kind: 'handed_in' }
    })
    const { run, engine } = await begin(hands, eyes(), { outcomes: ['fail', 'pass'] })
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(answers[1]).toMatch(/text-1: so it is[\s\S]*its output/)
    expect(await engine.task('plan-1/a')).toMatchObject({ attempts: 1, current: { submission: 2, checkFailures: 1 } })
  })

  it('hears at once what is wrong with its case, and is reminded when it goes quiet', async () => {
    const said: unknown[] = []
    const hands = talker(async (talk) => {
      said.push(await talk.quiet('nothing'), await talk.submit('{}', 'bad case', ''), await talk.submit(goodCase, 'good case', 'done'))
      return { kind: 'handed_in' }
    })
    const { run, types } = await begin(hands)
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(said[0]).toBe('reminded')
    expect(said[1]).toMatchObject({ kind: 'refused', problems: [expect.stringContaining('summary'), expect.anything()] })
    expect(said[2]).toEqual({ kind: 'taken' })
    expect(await types()).toEqual(expect.arrayContaining(['worker.reminded', 'case.parse_error', 'case.submitted']))
  })

  it('goes on with the same attempt when it was stopped between two tool calls', async () => {
    const stored: (readonly string[])[] = []
    const stop = new AbortController()
    const hands = talker(async (talk, turn, signal) => {
      stored.push(talk.stored)
      if (turn === 1) {
        await talk.calling('run', 'I will run it')
        await talk.called('it ran')
        stop.abort()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return { kind: 'stopped', detail: 'stopped', output: '' }
      }
      await talk.submit(goodCase, 'done', 'work')
      return { kind: 'handed_in' }
    })
    const { run, types, engine } = await begin(hands)
    expect((await run(stop.signal)).stopped).toBe(true)
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(stored).toEqual([[], ['I will run it', 'it ran']])
    expect(await engine.task('plan-1/a')).toMatchObject({ attempts: 1 })
    expect(await types()).not.toContain('attempt.interrupted')
  })

  it('finds all that was said again in its order, the long and the short', async () => {
    const words = Array.from({ length: 12 }, (_, n) => `${n}: ${'x'.repeat(n % 4 === 3 ? 5_000 : 900)}`)
    const stored: (readonly string[])[] = []
    const conversations: { stored: string | null; said: readonly string[] }[] = []
    const hands = talker(async (talk, turn) => {
      stored.push(talk.stored)
      if (turn === 1) for (const [n, word] of words.entries()) await (n % 2 === 0 ? talk.calling('run', word) : talk.called(word))
      await talk.submit(goodCase, `said ${turn}`, `work ${turn}`)
      return { kind: 'handed_in' }
    })
    const { run, journal } = await begin(hands, eyes(30, 90))
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(stored).toEqual([[], [...words, 'said 1']])
    for (const { type, data } of await journal.readStream('task/plan-1/a'))
      if (type.startsWith('call.')) conversations.push((data as { conversation: (typeof conversations)[number] }).conversation)
    expect(conversations.some(({ said }) => said.length > 1)).toBe(true)
    expect(conversations.some(({ said }) => said.length === 0)).toBe(true)
    expect(Math.max(...conversations.map(({ said }) => said.join('').length))).toBeLessThanOrEqual(4_096)
  })

  it('hears after a crash what was wrong with its case, and goes on where it was reminded', async () => {
    const heard: [readonly string[], readonly string[] | undefined][] = []
    const stop = new AbortController()
    const stopped = async (signal: AbortSignal): Promise<WorkEnding> => {
      await new Promise((resolve) => (signal.aborted ? resolve(0) : signal.addEventListener('abort', resolve, { once: true })))
      return { kind: 'stopped', detail: 'stopped', output: '' }
    }
    const stops = [stop, new AbortController(), new AbortController()]
    const hands = talker(async (talk, turn, signal) => {
      heard.push([talk.stored, talk.refused])
      if (turn === 1) await talk.submit('{}', 'bad case', '')
      if (turn === 2) await talk.quiet('silence')
      if (turn === 3) {
        await talk.submit(goodCase, 'good case', 'work')
        return { kind: 'handed_in' }
      }
      stops[turn - 1]?.abort()
      return stopped(signal)
    })
    const { run } = await begin(hands)
    for (const one of stops.slice(0, 2)) expect((await run(one.signal)).stopped).toBe(true)
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(heard.map(([stored]) => stored)).toEqual([[], ['bad case'], ['bad case', 'silence']])
    expect(heard[1]?.[1]).toEqual(expect.arrayContaining([expect.stringContaining('summary')]))
    expect(heard[2]?.[1], 'heard already').toBeUndefined()
  })

  it('does nothing more once its work is another process’s', async () => {
    let late: unknown
    const { run, journal, types } = await begin(
      talker(async (talk, turn) => {
        if (turn === 1) {
          await journal.reclaim(() => true)
          const [taken] = await journal.claim({ owner: 'another', kinds: ['run_attempt'], limit: 1, leaseMs: 60_000 })
          expect(taken?.kind).toBe('run_attempt')
          late = await talk.calling('run', 'too late').catch((error: unknown) => error)
          await journal.reclaim((owner) => owner === 'another')
          throw late
        }
        await talk.submit(goodCase, 'done', 'work')
        return { kind: 'handed_in' }
      }),
    )
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(late).toMatchObject({ name: 'TurnLost' })
    expect(await types()).not.toContain('call.begun')
  })

  it('is interrupted, not run again, where a tool call was open', async () => {
    const hands = talker(async (talk, turn) => {
      if (turn === 1) {
        await talk.calling('run', 'I will run it', { inputTokens: 7, costUsd: 2 })
        throw Object.assign(new Error('the machine went away'), { code: 'EIO' })
      }
      expect(talk.answer).toContain('partial effects')
      await talk.submit(goodCase, 'done', 'work')
      return { kind: 'handed_in' }
    })
    const { run, types, journal } = await begin(hands)
    await expect(run()).rejects.toThrow('the machine went away')
    expect((await run()).counts).toEqual({ clean: 1 })
    expect(await types()).toEqual(expect.arrayContaining(['call.begun', 'attempt.interrupted']))
    expect((await types()).filter((type) => type === 'attempt.started')).toHaveLength(2)
    expect(await journal.viewRow('spending', 'agent:dev'), 'what it had used counts').toMatchObject({
      working: { calls: 1, inputTokens: 7, costUsd: 2 },
    })
  })
})
