import type { DeliverableVerdict, Submission } from '../../contract/deliverable/deliverable.ts'
import type { Refusal, RefusalCode, Result } from '../../contract/errors.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { OperatorAnswer } from '../../contract/events/task.ts'
import type { Subject } from '../../contract/review.ts'
import type { DecidedContent, TaskState } from '../task/state.ts'

/** A waived review, and the version that it was granted for: its bytes may leave for as long as it lasts, whatever is brought after it. */
export type Waiver = EventData<'bypass.granted'> & { version?: Submission }

/** A deliverable as the journal has it: its latest version, and who waived what. */
export interface DeliverableState {
  deliverable: string
  /** Whoever brought it first; nobody else may use its id. */
  producer: string
  latest: Submission
  bypasses: Waiver[]
  /** The owner took the id away from its producer, and nobody has brought anything under it since. */
  freed?: { by: string; reason: string }
  /** The question whether to let it through without a review, while it is open. */
  request?: { request: string; digest: string; by: string }
  requests: number
}

export type MaybeDeliverable = DeliverableState | undefined

export function evolveDeliverable(state: MaybeDeliverable, event: AssayEvent): MaybeDeliverable {
  if (event.type === 'deliverable.submitted') {
    const { deliverable, ...latest } = event.data
    const { freed, ...known } = state ?? { requests: 0 }
    const before = { bypasses: [], ...known, deliverable, latest }
    return freed ? { ...before, producer: latest.producer } : { producer: latest.producer, ...before }
  }
  if (!state) return state
  const { request: _request, ...rest } = state
  switch (event.type) {
    case 'bypass.granted':
      return { ...state, bypasses: [...state.bypasses, { ...event.data, version: state.latest }] }
    case 'deliverable.freed':
      return { ...rest, bypasses: [], freed: { by: event.data.by, reason: event.data.reason } }
    case 'bypass.requested':
      return {
        ...state,
        request: { request: requestName(state), digest: event.data.digest, by: event.data.by },
        requests: state.requests + 1,
      }
    case 'operator.answered':
      return rest
    default:
      return state
  }
}

const requestName = ({ deliverable, requests }: DeliverableState): string => `${deliverable}/bypass#${requests + 1}`

/** Why a producer may not use the id; undefined where it may. */
export function takenBy(state: MaybeDeliverable, producer: string): string | undefined {
  if (!state || state.freed || state.producer === producer) return undefined
  const { deliverable } = state
  return `${deliverable} is ${state.producer}'s: another producer needs another id, or the owner frees this one (assay deliverable free ${deliverable})`
}

/** The owner takes an id away from its producer. The door has checked the authority. */
export function freeDeliverable(state: MaybeDeliverable, { by, reason }: { by: string; reason: string }): Result<AssayEvent[]> {
  if (!state) return refuse('not_found', 'there is no such deliverable')
  if (reason.trim() === '') return refuse('reason_required', 'taking an id away needs a reason')
  if (state.freed) return refuse('wrong_status', `${state.deliverable} is free already`)
  return { ok: true, value: [{ type: 'deliverable.freed', data: { deliverable: state.deliverable, by, reason } }] }
}

/** A new version. The id stays its producer's. */
export function submitDeliverable(
  state: MaybeDeliverable,
  deliverable: string,
  submission: Omit<Submission, 'submission'>,
): Result<AssayEvent[]> {
  const taken = takenBy(state, submission.producer)
  if (taken !== undefined) return refuse('already_exists', taken)
  const number = (state?.latest.submission ?? 0) + 1
  return { ok: true, value: [{ type: 'deliverable.submitted', data: { deliverable, ...submission, submission: number } }] }
}

export interface BypassOrder {
  by: string
  /** Beginning of the digest that it is meant for; refused where the latest version is another. */
  digest?: string | undefined
  reason: string
  until: string
  byAgent: boolean
}

/** The review of the latest version, of exactly its bytes, is waived. The door has checked the authority. */
export function grantBypass(state: MaybeDeliverable, { by, reason, until, byAgent, digest }: BypassOrder): Result<AssayEvent[]> {
  if (!state || state.freed) return refuse('not_found', 'there is no such deliverable')
  if (reason.trim() === '') return refuse('reason_required', 'a bypass needs a reason')
  const other = otherContent(state, digest)
  if (other !== undefined) return refuse('wrong_status', other)
  const { deliverable, latest, request } = state
  const granted: AssayEvent = { type: 'bypass.granted', data: { deliverable, digest: latest.digest, until, byAgent, by, reason } }
  if (!request || byAgent) return { ok: true, value: [granted] }
  return { ok: true, value: [{ type: 'operator.answered', data: { request: request.request, answer: 'accept', by, reason } }, granted] }
}

const shortestDigest = 6

/** Why a decision that names a digest is not about the latest version; undefined where it is, or where none is named. */
export function otherContent({ deliverable, latest }: DeliverableState, named: string | undefined): string | undefined {
  if (named === undefined) return undefined
  const wanted = named.replace(/^sha256:/, '')
  if (wanted.length < shortestDigest) return `--digest ${named}: at least ${shortestDigest} characters of it are needed`
  if (latest.digest.replace(/^sha256:/, '').startsWith(wanted)) return undefined
  return `the latest version of ${deliverable} is ${latest.digest}, not ${named}: a decision covers the latest version alone`
}

/** An agent wants out of its review: the owner is asked, once for each version. */
export function requestBypass(state: DeliverableState, by: string, reason: string): AssayEvent[] {
  const { deliverable, latest, request } = state
  if (request?.digest === latest.digest) return []
  const detail = `${by} asks to hand over ${deliverable} without a review${reason === '' ? '' : `: ${reason}`}`
  return [
    { type: 'bypass.requested', data: { deliverable, digest: latest.digest, by, reason } },
    { type: 'operator.requested', data: { request: requestName(state), kind: 'bypass_refused', detail, answers: ['accept', 'fail'] } },
  ]
}

/** The owner's answer to such a question: `accept` waives the review, `fail` does not. */
export function answerBypass(
  state: MaybeDeliverable,
  { request, answer, ...order }: BypassOrder & { request: string; answer: OperatorAnswer },
): Result<AssayEvent[]> {
  if (!state || state.request?.request !== request) return refuse('not_found', `no open request ${request}: it was answered`)
  const { by, reason } = order
  if (answer === 'fail') return { ok: true, value: [{ type: 'operator.answered', data: { request, answer, by, reason } }] }
  if (answer !== 'accept') return refuse('bad_answer', `${answer} is no answer to ${request}; possible: accept, fail`)
  if (state.request.digest !== state.latest.digest)
    return refuse('wrong_status', `${state.deliverable} has another content by now than the one that was asked about`)
  return grantBypass(state, order)
}

/** The decision on exactly what was submitted: content, criteria, rubric and policy. */
export function decisionFor({ subject }: Submission, task: TaskState): DecidedContent | undefined {
  return task.decided.findLast((one) => sameSubject(one.subject, subject))
}

function sameSubject(one: Subject, other: Subject): boolean {
  return one.content === other.content && one.criteria === other.criteria && one.rubric === other.rubric && one.policy === other.policy
}

/** What its review has come to, in the words that producers hear. */
export function verdictOf(submission: Submission, task: TaskState | undefined): DeliverableVerdict {
  if (!task) return 'PENDING'
  if (task.status === 'failed' || task.status === 'skipped') return 'FAIL'
  if (task.status === 'done') {
    const { flag, content } = task.done ?? {}
    if (content !== submission.subject.content) return 'PENDING'
    if (flag === 'unreviewed') return 'PENDING'
    if (flag === 'owner-accepted') return 'OWNER-ACCEPTED'
    return flag === 'below-threshold' ? 'FAIL' : 'PASS'
  }
  return task.status === 'todo' && task.feedback ? 'NEEDS_REVISION' : 'PENDING'
}

/** Why a task has failed: what was found wanting last; or, where nothing was, what it was given up for. Without a full stop. */
export function failureOf({ ledger }: Pick<TaskState, 'ledger'>, givenUp?: string): string {
  const last = ledger.at(-1)
  const why = last?.outcome === 'reject' ? last.concern : (givenUp ?? '')
  return why.replace(/[.\s]+$/, '') || 'it was given up'
}

function refuse(code: RefusalCode, message: string): { ok: false; error: Refusal } {
  return { ok: false, error: { code, message } }
}
