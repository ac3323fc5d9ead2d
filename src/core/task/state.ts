import type { Case, Content, Conversation } from '../../contract/case.ts'
import type { Acceptance } from '../../contract/events/merge.ts'
import type { OperatorAnswer } from '../../contract/events/task.ts'
import type { Decision, Feedback, LedgerEntry, Subject, Veto } from '../../contract/review.ts'
import type { Score } from '../../contract/score.ts'
import type { DoneFlag, HeldReason, TaskInput, TaskSpec, TaskStatus } from '../../contract/task.ts'
import type { Category, Usage } from '../../contract/verdict.ts'
import type { Panel } from '../panel/state.ts'

/** The attempt whose work is at hand, with what was submitted in it. Kept after its end, until the next one starts. */
export interface AttemptState {
  attempt: number
  worker: string
  conversational: boolean
  conversation?: Conversation
  /** Tool calls begun in this attempt, and whether the last one is open: a crash then leaves effects unknown. */
  calls: number
  callOpen: boolean
  /** What had been used, and not told with a case, when the last one was begun. */
  used?: Usage
  /** The task was failed from outside while it ran; how its turn ended is not recorded yet. */
  cutOff?: true
  /** What it used was counted after its end. */
  counted?: true
  work?: string
  /** The worker took the task itself. */
  outside?: true
  caseErrors: number
  checkFailures: number
  reminded: boolean
  /** Number of the latest submission; 0 before the first. */
  submission: number
  case?: Case
  content?: Content
  checksPassed: boolean
  /** Digest of the checks that passed: where others are asked for since, they run before anybody judges. */
  checkedWith?: string
  /** Worker text that addresses the reviewer or looks like a verdict, as found when the review opened. */
  suspicions: string[]
  /** A fresh panel was already tried for this submission because nobody could read the first. */
  rejudged: boolean
}

/** A decision that judges made about certain content. Remembered, so that the same content is not judged for a better draw. */
export interface DecidedContent {
  review: number
  attempt: number
  subject: Subject
  caseDigest: string
  decision: Decision
  /** Whoever graded it. */
  judges: string[]
  /** The owner turned it; an accept on it is the owner's, never a clean one. */
  overruled?: 'pass' | 'fail'
}

/** One graded rejection, for telling whether rework still moves. */
export interface Round {
  attempt: number
  category: Category
  pointers: string[]
  score: Score
}

export interface Hold {
  reason: HeldReason
  /** The state it goes back to when the cause ends. */
  from: TaskStatus
  detail: string
}

export interface OpenRequest {
  request: string
  answers: OperatorAnswer[]
  /** The hold that it is about; none for a question about finished work. */
  about?: HeldReason
}

export interface TaskState {
  spec: TaskSpec
  /** Digest of the policy in force. */
  policy: string
  status: TaskStatus
  hold?: Hold
  /** The hold that a stale input came on top of; it is back in force when the input lands. */
  formerHold?: Hold
  done?: { flag: DoneFlag; content: string | null; score?: Score }
  inputs: TaskInput[]
  /** Inputs that were reopened and have not landed yet; and whether one landed with other content. */
  staleInputs: string[]
  inputChanged: boolean
  /** It ended, or the owner turned its decision: it is given its inputs anew before it is worked on again, as nobody may have told it of them. */
  untold: boolean

  /** Executions begun so far; each one is charged unless a clean stop ended it. */
  attempts: number
  charged: number
  granted: number
  /** The latest attempt; or an earlier one, from when its work was taken in the latest one's place. */
  current?: AttemptState
  /** Work whose checks passed, as its attempt stood then: case and content that may be taken later, see `workKey`. */
  checked: Record<string, AttemptState>
  /** Everything that was ever submitted, by its digest. */
  contents: Record<string, Content>
  /** Everybody who had a hand in the work, over all attempts. None of them may judge it. */
  authors: string[]

  /** Reviews opened so far, and the one that is open. */
  reviews: number
  panel?: Panel
  decided: DecidedContent[]
  /** Content that the owner turned down without a graded decision to turn, with the reason. */
  rejectedByOwner: Record<string, string>
  rounds: Round[]
  vetoes: Veto[]
  /** Entries since the last reset. */
  ledger: LedgerEntry[]
  ledgerCount: number
  feedback?: Feedback
  /** The attempt whose snapshot is being put back before a force-accept. */
  restoring?: { attempt: number; content: string; why: 'exhausted' | 'stagnated' }
  /** What the task will be done as once its work is merged; and the merge, once it is made and checked. */
  merging?: { acceptance: Acceptance; merge?: { commit: string; onto: string } }
  /** Content that the mission's branch has. */
  merged?: string
  mergeFailures: number
  /** Content that its merge changed: it cannot land as it is, so it is not taken again unless it is submitted again. */
  mergedOtherwise: string[]
  /** The last attempt that was not charged because its merge failed; no attempt is given back twice. */
  givenBack: number
  /** The mission has moved on in files that the task also changed: they are brought into the workspace before it is worked on again. */
  behind: boolean
  stagnated: boolean
  /** Accepted content whose proposals were handed on. */
  fannedOut: string[]
  requests: OpenRequest[]
  requestCount: number
}

/** Before its creation a task is nothing. */
export type MaybeTask = TaskState | undefined

/** The attempt whose work is at hand. */
export function attemptAtHand(state: TaskState): number {
  return state.current?.attempt ?? state.attempts
}

export function workKey(attempt: number, content: string): string {
  return `${attempt} ${content}`
}

/** The content that an accept would be about: what was submitted in the attempt at hand. */
export function submittedContent(state: TaskState): Content | undefined {
  return state.current?.content
}

/** The latest decision on exactly this content under the policy in force. */
export function decisionOn(state: TaskState, content: string): DecidedContent | undefined {
  return state.decided.findLast((one) => one.subject.content === content && one.subject.policy === state.policy)
}

/** The bar that the work was decided against, where it was decided: a policy that took over later asks something else of what comes after it. */
export function decidedBar({ spec, done, decided }: TaskState): number {
  const on = done ? decided.findLast((one) => one.subject.content === done.content) : decided.at(-1)
  return on?.decision.bar ?? spec.bar
}
