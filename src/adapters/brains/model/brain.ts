import { defaultOutputTokens } from '../../../contract/agent.ts'
import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion } from '../../../ports/brain.ts'
import { findCredentials } from './credentials.ts'
import { loadProvider, type ModelBrain } from './provider.ts'
import { redactor } from './reply/redact.ts'
import type { Premises } from '../premises.ts'
import type { Court, Line } from './sitting.ts'
import type { WorkLimits } from './worker/shift.ts'

export interface ModelBrainOptions {
  /** Name of the brain in the configuration, for messages. */
  name: string
  brain: ModelBrain
  /** Where the key is looked up, once, by the name that the configuration gives. */
  env: Readonly<Record<string, string | undefined>>
  /** JSON Schema of the arguments of `submit_verdict` for a question. */
  verdictSchema(question: JudgeQuestion): Record<string, unknown>
  /** Time for one request, and for a whole sitting with all its requests, turns and pauses. */
  requestMs: number
  sittingMs: number
  /** Turns in which a judge may read before it has to answer. */
  readingTurns: number
  /** Most bytes of one answer of the server. */
  maxReplyBytes: number
  /** Most characters of everything that a judge reads by tools in one sitting. */
  maxReadingChars: number
  /** Time until the first byte of an answer; as much as for all of it unless told, because models answer in one piece when they are done. */
  firstByteMs?: number
  /** How often a request that failed for the moment is repeated (3), and after which pauses (500 ms, growing to 20 s). */
  retries?: number
  firstPauseMs?: number
  longestPauseMs?: number
  /** Most tokens of one answer (8192). */
  maxOutputTokens?: number
  /** Where the brain's workers work, and what bounds an attempt of theirs. */
  premises: Premises
  work: WorkLimits
  /** Told what the operator should know, such as that no key is sent. */
  notice?(message: string): void
  /** From 0 to 1; spreads repetitions. */
  random?(): number
}

/** A model behind an API as worker and judge. Problems, such as a key that is not there, are found here, before anything is asked. */
export function openModelBrain(options: ModelBrainOptions): Result<BrainPort, Problem[]> {
  const credentials = findCredentials(options.name, options.brain, options.env)
  if (!credentials.ok) return credentials
  const { key, notice } = credentials.value
  if (notice !== undefined) options.notice?.(notice)
  // Loaded with the first question: whoever only opens a brain does not wait for it.
  const line = once(() => openLine(options, key))
  const working = once(() => import('./worker/work.ts'))
  const judging = once(() => import('./sitting.ts'))
  return {
    ok: true,
    value: {
      conversational: true,
      retriesItself: true,
      work: async (order, signal) => {
        const { work } = await working()
        return await work({ ...(await line()), premises: options.premises, limits: options.work }, order, signal)
      },
      judge: async (question, signal): Promise<JudgeEnding> => {
        const { sit } = await judging()
        return await sit(courtOf(options, await line()), question, signal)
      },
      close: () => Promise.resolve(),
    },
  }
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

async function openLine(options: ModelBrainOptions, key: string | undefined): Promise<Line> {
  const { brain, requestMs } = options
  return {
    brain,
    source: await loadProvider(brain, key),
    redact: redactor(key),
    exchange: { firstByteMs: options.firstByteMs ?? requestMs, totalMs: requestMs, maxBytes: options.maxReplyBytes },
    patience: {
      retries: options.retries ?? 3,
      firstPauseMs: options.firstPauseMs ?? 500,
      longestPauseMs: options.longestPauseMs ?? 20_000,
    },
    maxOutputTokens: options.maxOutputTokens ?? defaultOutputTokens,
    random: options.random ?? Math.random,
  }
}

function courtOf(options: ModelBrainOptions, line: Line): Court {
  return {
    ...line,
    sittingMs: options.sittingMs,
    readingTurns: options.readingTurns,
    readingChars: options.maxReadingChars,
    verdictSchema: options.verdictSchema,
  }
}
