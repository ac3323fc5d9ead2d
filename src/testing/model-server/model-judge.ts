import { type ModelBrainOptions, openModelBrain } from '../../adapters/brains/model/brain.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import type { Expectations } from '../../core/verdict/read.ts'
import { verdictToolSchema } from '../../core/verdict/tool-schema.ts'
import type { BrainPort, JudgeQuestion, SnapshotReader } from '../../ports/brain.ts'
import { sampleExpectations } from '../sample-verdict.ts'
import { specWith } from '../task/world.ts'
import type { ModelServer } from './server.ts'

export const providers = ['openai-compatible', 'openai', 'anthropic', 'google'] as const
export type ProviderName = (typeof providers)[number]

/** Looks like a key, and must never be seen again. */
export const canaryKey = 'sk-canary-Zq81xN4vTr77Lw02pYd5'

/** A model judge that asks the server, with short pauses and deadlines that no honest answer on loopback reaches. */
export function modelJudge(server: ModelServer, provider: ProviderName, changes: Partial<ModelBrainOptions> = {}): BrainPort {
  const opened = openModelBrain({
    name: 'judge',
    brain: { kind: 'model', provider, model: 'any', baseURL: server.baseURL(provider), apiKeyEnv: 'JUDGE_KEY' },
    env: { JUDGE_KEY: canaryKey },
    verdictSchema: verdictToolSchema,
    requestMs: 30_000,
    sittingMs: 60_000,
    readingTurns: 3,
    maxReplyBytes: 256 * 1024,
    maxReadingChars: 200_000,
    retries: 1,
    firstPauseMs: 1,
    longestPauseMs: 5,
    premises: { configDir: '/nowhere' },
    work: { attemptMs: 60_000, turns: 60, outputBytes: 1024 * 1024, caseBytes: 64 * 1024 },
    ...changes,
  })
  if (!opened.ok) throw new Error(opened.error.map(formatProblem).join('; '))
  return opened.value
}

/** A question about the given files. */
export function judgeQuestion(files: Record<string, string> = {}, changes: Partial<JudgeQuestion> = {}): JudgeQuestion & Expectations {
  const expected = sampleExpectations()
  const { criteria, dimensions } = expected
  return {
    ...expected,
    task: specWith({ criteria: [...criteria], dimensions: [...dimensions] }),
    judge: 'qa',
    instructions: undefined,
    review: 1,
    attempt: 1,
    seat: 1,
    round: 1,
    prompt: `Judge the work. The nonce is ${expected.nonce}.`,
    snapshot: () => Promise.reject(new Error('a model needs no copy')),
    reader: memoryReader(files),
    ...changes,
  }
}

/** A snapshot in memory. Reading what is not there is written down in `strays`, because nobody should even ask. */
export function memoryReader(files: Record<string, string | Uint8Array>): SnapshotReader & { strays: string[] } {
  const contents = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]))
  const strays: string[] = []
  return {
    strays,
    files: async () => [...contents].map(([path, bytes]) => ({ path, size: bytes.length })),
    read: async (path) => {
      if (!contents.has(path)) strays.push(path)
      return contents.get(path)
    },
  }
}
