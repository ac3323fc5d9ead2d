import type { AttestedDecision, AttestedJudge } from '../../contract/attest/statement.ts'
import type { CheckReport } from '../../contract/check.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Content as StoredContent } from '../../contract/case.ts'
import type { Result } from '../../contract/errors.ts'
import type { Decision, Sitting, Subject } from '../../contract/review.ts'
import type { DeliverableState } from '../gate/deliverable.ts'
import { evolveAll } from '../task/evolve/evolve.ts'
import type { TaskState } from '../task/state.ts'

/** A task's stream in its current shape, with what the envelope of each event adds. */
export interface PlacedEvent {
  event: AssayEvent
  at: string
}

export interface DecisionFacts {
  decision: Omit<AttestedDecision, 'head' | 'refused'>
  content: Pick<StoredContent, 'digest' | 'snapshot' | 'output'>
  /** Answers of judges to criteria: who found which met. */
  answers: { criterion: string; judge: string; met: 'yes' | 'no' | 'cannot_tell' }[]
  /** The task's terms when it was decided: a policy that took over later has others. */
  terms: TaskState['spec']
}

export type NoDecision = { code: 'undecided' | 'nothing'; message: string }

type Content = Pick<StoredContent, 'digest' | 'snapshot' | 'output'>

/** What a task was decided as, read from its own events. A task that is still open has no decision to attest. */
export function taskDecision(state: TaskState, placed: readonly PlacedEvent[]): Result<DecisionFacts, NoDecision> {
  const { spec, done, status } = state
  if (status !== 'done' && status !== 'failed')
    return { ok: false, error: { code: 'undecided', message: `${spec.id} is ${status}: there is no decision to attest yet` } }
  const digest = done?.content ?? state.current?.content?.digest
  const content = digest === undefined || digest === null ? undefined : state.contents[digest]
  if (!content) return { ok: false, error: { code: 'nothing', message: `${spec.id} ended without any work that could be attested` } }
  return { ok: true, value: factsOn(state, placed, content, { flag: done?.flag ?? 'failed', ...endOf(placed) }) }
}

/**
 * What the latest version of a deliverable was decided as: in the task that reviewed exactly its content, or by somebody who waived the
 * review of exactly its bytes and whose word still counts. The files are those that are handed over.
 */
export function deliverableDecision(
  { deliverable, latest, bypasses, freed }: DeliverableState,
  state: TaskState,
  placed: readonly PlacedEvent[],
  { now, waivedAt }: { now: number; waivedAt: (digest: string) => string | undefined },
): Result<DecisionFacts, NoDecision> {
  if (freed) {
    const message = `${freed.by} took ${deliverable} away from its producer (${freed.reason}): nothing counts under this id until it is brought anew`
    return { ok: false, error: { code: 'nothing', message } }
  }
  const decided = taskDecision(state, placed)
  const ofThis = decided.ok && decided.value.content.digest === latest.subject.content ? decided.value : undefined
  const waived = bypasses.findLast(({ digest, until }) => digest === latest.digest && Date.parse(until) > now)
  const { kind: _kind, title, producer, snapshot, task } = latest
  const named = { kind: 'deliverable', id: deliverable, title, producer, snapshot, task }
  const isOver = latest.expires !== undefined && Date.parse(latest.expires) <= now
  if (ofThis && (!waived || (ofThis.decision.flag === 'clean' && !isOver)))
    return { ok: true, value: expiring({ ...ofThis, decision: { ...ofThis.decision, ...named } }, latest.expires) }
  if (!waived) {
    const message = decided.ok
      ? `its latest version is not what ${task} decided on: ${differing(decided.value, latest.subject)}`
      : decided.error.message
    return { ok: false, error: { code: 'undecided', message: `${deliverable}: ${message}` } }
  }
  const content = state.contents[latest.subject.content] ?? { digest: latest.subject.content, snapshot }
  const end = { flag: 'bypassed' as const, why: `review waived by ${waived.by}: ${waived.reason}`, at: waivedAt(latest.digest) ?? '' }
  const facts = factsOn(state, placed, content, end)
  return { ok: true, value: expiring({ ...facts, decision: { ...facts.decision, ...named } }, waived.until) }
}

/** The same decision, which counts until then; a failure stays one. */
export function expiring(facts: DecisionFacts, expires: string | undefined): DecisionFacts {
  if (expires === undefined || facts.decision.flag === 'failed') return facts
  return { ...facts, decision: { ...facts.decision, expires } }
}

/** Which of the things that a verdict is bound to are others. */
function differing({ content, decision: { bound } }: DecisionFacts, latest: Subject): string {
  const decided: Partial<Subject> = { ...bound, content: content.digest }
  const terms = (['content', 'criteria', 'rubric', 'policy'] as const).filter(
    (term) => decided[term] !== undefined && decided[term] !== latest[term],
  )
  return `${terms.join(', ')} ${terms.length === 1 ? 'differs' : 'differ'}`
}

interface End {
  flag: AttestedDecision['flag']
  why: string
  at: string
}

function factsOn(state: TaskState, placed: readonly PlacedEvent[], content: Content, end: End): DecisionFacts {
  const { done } = state
  // What was accepted without a review is not vouched for by an earlier one of the same content, under terms that were others.
  const review = end.flag === 'unreviewed' ? undefined : reviewOf(placed, content.digest)
  const then = asDecided(state, placed, review)
  const { spec } = then
  const score = (end.flag === 'bypassed' ? undefined : done?.score) ?? review?.decision?.score
  return {
    decision: {
      version: 1,
      kind: 'task',
      id: spec.id,
      title: spec.title,
      producer: spec.assignee,
      flag: end.flag,
      why: end.why,
      ...(score && { score }),
      bar: spec.bar,
      ...(review && { bound: review.subject }),
      policy: review?.subject.policy ?? then.policy,
      content: content.digest,
      snapshot: content.snapshot,
      criteria: spec.criteria,
      dimensions: spec.dimensions.map(({ name, weight }) => {
        const found = review?.decision?.dimensions.find((one) => one.name === name)?.score
        return { name, weight, ...(found && { score: found }) }
      }),
      judges: review?.judges ?? [],
      ...(review?.decision && { quorum: review.decision.quorum, degraded: review.decision.degraded }),
      checks: checksOf(placed, content.digest).map(({ id, kind, outcome, summary }) => ({ id, kind, outcome, summary })),
      vetoes: review?.decision?.vetoes ?? [],
      decidedAt: end.at,
    },
    content,
    answers: review?.answers ?? [],
    terms: spec,
  }
}

/** The task as it was when the review that counts was opened; without one, when it ended. */
function asDecided(state: TaskState, placed: readonly PlacedEvent[], review: Review | undefined): TaskState {
  const ended = placed.findLastIndex(({ event }) => endings.has(event.type))
  const last = review?.opened ?? (ended === -1 ? placed.length - 1 : ended)
  return (
    evolveAll(
      undefined,
      placed.slice(0, last + 1).map(({ event }) => event),
    ) ?? state
  )
}

const endings = new Set(['task.accepted', 'task.force_accepted', 'task.failed'])

interface Review {
  /** Place of its opening among the events. */
  opened: number
  subject: Subject
  decision?: Decision
  judges: AttestedJudge[]
  answers: DecisionFacts['answers']
}

/** The latest review of exactly this content that came to a decision; else the latest one. */
function reviewOf(placed: readonly PlacedEvent[], content: string): Review | undefined {
  const reviews = new Map<number, Review>()
  for (const [opened, { event }] of placed.entries()) {
    if (event.type === 'review.opened' && event.data.subject.content === content)
      reviews.set(event.data.review, { opened, subject: event.data.subject, judges: [], answers: [] })
    const review = 'review' in event.data && typeof event.data.review === 'number' ? reviews.get(event.data.review) : undefined
    if (review) note(review, event)
  }
  const all = [...reviews.values()]
  return all.findLast((one) => one.decision) ?? all.at(-1)
}

function note(review: Review, event: AssayEvent): void {
  if (event.type === 'review.decided') review.decision = event.data.decision
  if (event.type === 'verdict.recorded') {
    const { sitting } = event.data
    review.judges.push(judgeOf(sitting))
    for (const { id, met } of sitting.verdict?.criteria ?? []) review.answers.push({ criterion: id, judge: sitting.judge, met })
  }
  if (event.type === 'seat.voided') review.judges.push({ judge: event.data.judge, principal: '', outcome: 'unreadable' })
  if (event.type === 'judge.unavailable') review.judges.push({ judge: event.data.judge, principal: '', outcome: 'unavailable' })
}

function judgeOf({ judge, principal, outcome, accepts, score, verdict, text }: Sitting): AttestedJudge {
  const concern = verdict?.concern ?? text?.feedback
  return {
    judge,
    principal,
    outcome: outcome === 'abstained' ? 'abstained' : accepts ? 'accepts' : 'rejects',
    ...(score && { score }),
    ...(concern !== undefined && { concern }),
  }
}

function checksOf(placed: readonly PlacedEvent[], content: string): CheckReport[] {
  const found = placed.findLast(
    ({ event }) => (event.type === 'checks.passed' || event.type === 'checks.failed') && event.data.content === content,
  )?.event
  return found?.type === 'checks.passed' || found?.type === 'checks.failed' ? found.data.reports : []
}

function endOf(placed: readonly PlacedEvent[]): { why: string; at: string } {
  for (const { event, at } of placed.toReversed()) {
    if (event.type === 'task.accepted') return { why: event.data.why, at }
    if (event.type === 'task.force_accepted') return { why: `accepted below the bar: ${event.data.why}`, at }
    if (event.type === 'task.failed') return { why: event.data.reason, at }
  }
  return { why: '', at: placed.at(-1)?.at ?? '' }
}
