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
  /** Given to conversational brains alone. */
  talk?: Talk
}

/** A worker's turn as a conversation that outlives the process. `said` is what was added to it since it was last stored, as text of the brain's own. */
export interface Talk {
  /** Everything stored so far, oldest first; empty at the beginning. */
  stored: readonly string[]
  /** The answer to the case that was handed in last (feedback, failing checks), or what a cut-off turn must know; undefined at the beginning. */
  answer: string | undefined
  /** What was wrong with the case that was handed in last, where it could not be taken and the worker may not have heard of it. */
  refused: readonly string[] | undefined
  /** Durable before a tool with effects runs: a crash before `called` is an interruption, never a second run. `usage`: used until then, and not told with a case. */
  calling(tool: string, said: string, usage?: Usage): Promise<void>
  called(said: string, usage?: Usage): Promise<void>
  /** What was said without a tool with effects: it is there, and counts, after a crash too. */
  keep(said: string, usage?: Usage): Promise<void>
  /** Hands in a case. `taken` and `over` end the turn; `refused` names what is wrong, and the conversation goes on. */
  submit(
    raw: string,
    said: string,
    output: string,
    usage?: Usage,
  ): Promise<{ kind: 'taken' | 'over' } | { kind: 'refused'; problems: string[] }>
  /** A case was handed in that cannot be read as one, for this reason. It counts as any other that cannot be read; past their number the turn is over. */
  refuse(why: string, raw: string, said: string, usage?: Usage): Promise<{ kind: 'over' } | { kind: 'refused'; problems: string[] }>
  /** The model stopped without a case: it is reminded once; the second time the turn is over. */
  quiet(said: string, usage?: Usage): Promise<'reminded' | 'over'>
}

export type WorkEnding =
  /**
   * `raw` is the case as the worker gave it; null where it gave none and exit was clean. `output` is what it printed otherwise. `unreadable`: why the case
   * that it gave cannot even be taken in.
   */
  | { kind: 'finished'; raw: string | null; output: string; usage?: Usage; sandboxed: boolean; unreadable?: string }
  /** `beforeEffect`: proven that nothing ran (command not found, spawn error); only these are tried again, once. */
  | { kind: 'failed'; failure: AttemptFailure; detail: string; output: string; beforeEffect: boolean; usage?: Usage }
  /** The case was handed in during the turn, or the turn came to its end there. */
  | { kind: 'handed_in'; usage?: Usage }
  /** The signal ended the turn. */
  | { kind: 'stopped'; detail: string; output: string; usage?: Usage }

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
  /** US dollars that the sitting may cost, where that is bounded: a request that could cost more than is left of it is not made. */
  budgetUsd?: number
  /** Makes a private copy of the snapshot under review and names its folder; thrown away after the sitting. Not called by brains that need none. */
  snapshot(): Promise<string>
  /**
   * Where the task works in a folder that others use as well: that folder, and how to get a private copy of it as it was before the work, thrown away
   * after the sitting. Whatever a judge runs or loads from the folder is taken from there.
   */
  before?: { folder: string; copy(): Promise<string> }
  /** The same for folders that other tasks work in at this time. */
  beside?: readonly { folder: string; copy(): Promise<string> }[]
  /** Reads the snapshot under review without a copy of it: for judges that explore with tools. */
  reader: SnapshotReader
}

/** The files of one snapshot, and nothing else: there is no path out of it. */
export interface SnapshotReader {
  files(): Promise<readonly { path: string; size: number }[]>
  /** Undefined where there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>
}

export type JudgeEnding =
  | { kind: 'reply'; reply: RawReply; usage?: Usage }
  | { kind: 'unavailable'; detail: string; usage?: Usage }
  | { kind: 'stopped' }

/** What does the thinking. An adapter per kind; failure is data, only bugs throw. */
export interface BrainPort {
  /** Whether a worker with this brain may correct its case within an attempt. */
  conversational: boolean
  /** It repeats what failed for the moment by itself; whoever asks does not repeat on top. */
  retriesItself?: boolean
  work(order: WorkOrder, signal: AbortSignal): Promise<WorkEnding>
  judge(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding>
  close(): Promise<void>
}
