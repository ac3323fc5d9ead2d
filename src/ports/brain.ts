import type { AttemptFailure } from '../contract/events/attempt.ts'
import type { PriorPoint } from '../contract/review.ts'
import type { Criterion, TaskSpec } from '../contract/task.ts'
import type { Dimension } from '../contract/score.ts'
import type { AnswerForm, RawReply, Usage } from '../contract/verdict.ts'

/** One turn of a worker. */
export interface WorkOrder {
  task: TaskSpec
  agent: string
  instructions: string | undefined
  attempt: number
  /** Everything the worker is told, as one text: task, criteria, inputs, ledger, feedback. */
  prompt: string
  /** Absolute folder to work in. */
  workspace: string
}

export type WorkEnding =
  /** `raw` is the case as the worker gave it; null where it gave none and exit was clean. `output` is what it printed otherwise. */
  | { kind: 'finished'; raw: string | null; output: string; usage?: Usage; sandboxed: boolean }
  /** `beforeEffect`: proven that nothing ran (command not found, spawn error); only these are tried again, once. */
  | { kind: 'failed'; failure: AttemptFailure; detail: string; output: string; beforeEffect: boolean; usage?: Usage }
  /** The signal ended the turn. */
  | { kind: 'stopped'; detail: string; output: string }

export interface JudgeQuestion {
  task: TaskSpec
  judge: string
  instructions: string | undefined
  review: number
  attempt: number
  seat: number
  round: number
  nonce: string
  form: AnswerForm
  criteria: readonly Criterion[]
  dimensions: readonly Dimension[]
  points: readonly PriorPoint[]
  /** The whole question as one text; for a reprompt it says what was wrong. */
  prompt: string
  /** Makes a private copy of the snapshot under review and names its folder; thrown away after the sitting. Not called by brains that need none. */
  snapshot(): Promise<string>
}

export type JudgeEnding =
  | { kind: 'reply'; reply: RawReply; usage?: Usage }
  | { kind: 'unavailable'; detail: string; usage?: Usage }
  | { kind: 'stopped' }

/** What does the thinking. An adapter per kind; failure is data, only bugs throw. */
export interface BrainPort {
  /** Whether a worker with this brain may correct its case within an attempt. */
  conversational: boolean
  work(order: WorkOrder, signal: AbortSignal): Promise<WorkEnding>
  judge(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding>
  close(): Promise<void>
}
