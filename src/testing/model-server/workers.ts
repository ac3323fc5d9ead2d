import { afterAll, afterEach, beforeEach } from 'vitest'
import type { WorkEnding } from '../../ports/brain.ts'
import type { Answer } from './answers.ts'
import { handIn, type MemoryTalk, memoryTalk, openWorkBench, type WorkBench } from './model-worker.ts'
import type { ModelRequest } from './request.ts'
import { type ModelServer, startModelServer } from './server.ts'

type Changes = Parameters<WorkBench['brain']>[1]

/** Where a file's tests let a model work: one server, and for each test a project with an empty workspace. */
export interface Workers {
  server: ModelServer
  bench: WorkBench
  /** Limits that nothing here comes to. */
  limits: { attemptMs: number; turns: number; outputBytes: number; caseBytes: number }
  /** One turn of a worker, and what it told. */
  work(changes?: Changes, talk?: MemoryTalk): Promise<{ ending: WorkEnding; talk: MemoryTalk }>
  /** A brain whose tokens cost this much. */
  pricedAt(inputPerMillion: number, outputPerMillion: number): NonNullable<NonNullable<Changes>['brain']>
}

/** A signal that nobody gives. */
export const never = new AbortController().signal

/** Plays these answers one after the other; the last goes on. */
export const inTurn =
  (...answers: Answer[]) =>
  (request: ModelRequest): Answer =>
    answers[Math.min(request.number, answers.length) - 1] as Answer

export async function useWorkers(): Promise<Workers> {
  const server = await startModelServer(() => handIn())
  afterAll(() => server.close())
  let current: WorkBench | undefined
  const atHand = (): WorkBench => {
    if (current === undefined) throw new Error('there is a bench within a test alone')
    return current
  }
  const remove = () => {
    current?.remove()
    current = undefined
  }
  beforeEach(() => {
    current = openWorkBench(server)
  })
  afterEach(remove)
  const bench: WorkBench = {
    get project() {
      return atHand().project
    },
    get workspace() {
      return atHand().workspace
    },
    brain: (provider, changes) => atHand().brain(provider, changes),
    order: (talk, changes) => atHand().order(talk, changes),
    remove,
  }
  return {
    server,
    bench,
    limits: { attemptMs: 60_000, turns: 60, outputBytes: 1024 * 1024, caseBytes: 64 * 1024 },
    work: async (changes = {}, talk = memoryTalk()) => ({
      ending: await bench.brain('openai-compatible', changes).work(bench.order(talk), never),
      talk,
    }),
    pricedAt: (inputPerMillion, outputPerMillion) => ({
      ...({ kind: 'model', provider: 'openai-compatible', model: 'any' } as const),
      baseURL: server.baseURL('openai-compatible'),
      prices: { inputPerMillion, outputPerMillion },
    }),
  }
}
