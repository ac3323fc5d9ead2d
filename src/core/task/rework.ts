import type { Decision } from '../../contract/review.ts'
import { compare } from '../score/exact.ts'
import { exactOf } from '../score/score.ts'
import { nothingSaid } from '../ledger/feedback.ts'
import type { Draft, Rules } from './draft.ts'
import { finish } from './merging.ts'
import { raiseRequest } from './requests.ts'
import { attemptAtHand, type DecidedContent, decisionOn, type Round, type TaskState } from './state.ts'

/*
 * The whole rework rule.
 *
 *   pass                          → done, clean (or the owner's, where the owner turned the decision)
 *   reject, rework does not move  → the end, saying so
 *   reject, attempts left         → back to the worker with feedback
 *   reject, attempts used up      → the end
 *
 *   the end: nobody could grade the last round            → held(unreadable); never force-accepted, never failed
 *            onExhausted escalate                         → held(escalated)
 *            onExhausted fail                             → failed
 *            onExhausted force-accept, graded candidate   → done(below-threshold), and the operator is asked
 *            onExhausted force-accept, none               → held(exhausted_unscored)
 */

/** A decision on the work, fresh or standing. */
export function settle(draft: Draft, rules: Rules, decision: Decision, overruled?: 'pass' | 'fail'): void {
  if (decision.outcome === 'pass') return accept(draft, decision, overruled)
  const stuck = stagnation(draft.state.rounds)
  if (stuck) {
    draft.emit('task.stagnated', stuck)
    return end(draft, rules, 'stagnated')
  }
  sendBack(draft, rules)
}

/** The attempt was not good enough, or came to nothing: back to the worker with what there is to say about it, while attempts are left. */
export function sendBack(draft: Draft, rules: Rules): void {
  if (attemptsLeft(draft.state, rules) === 0) return end(draft, rules, 'exhausted')
  const { attempts, feedback } = draft.state
  draft.emit('task.returned', { attempt: attempts, feedback: feedback ?? nothingSaid })
}

/** One more attempt, whatever was used up before: after a policy with fewer attempts it takes more than one grant to get there. */
export function grantAttempt(draft: Draft, rules: Rules, why: string): void {
  const { charged, granted } = draft.state
  const short = charged + 1 - rules.policy.review.maxAttempts - granted
  draft.emit('attempts.granted', { count: Math.max(1, short), why })
}

export function attemptsLeft(state: TaskState, rules: Rules): number {
  return Math.max(0, rules.policy.review.maxAttempts + state.granted - state.charged)
}

function accept(draft: Draft, decision: Decision, overruled?: 'pass' | 'fail'): void {
  const { current } = draft.state
  finish(draft, {
    kind: 'accepted',
    flag: overruled === 'pass' ? 'owner-accepted' : 'clean',
    attempt: attemptAtHand(draft.state),
    content: current?.content?.digest ?? null,
    ...(decision.score && { score: decision.score }),
    why: overruled === 'pass' ? 'the owner accepted this content' : 'the panel passed it',
  })
}

export function end(draft: Draft, rules: Rules, why: 'exhausted' | 'stagnated'): void {
  const { onExhausted, forceAccept } = rules.policy.review
  const candidate = forceAccept === 'best' ? bestGraded(draft.state) : lastGraded(draft.state)
  const forced = onExhausted === 'force-accept' && candidate
  if (!forced && lastRoundUnreadable(draft.state))
    return hold(draft, 'unreadable', 'the attempts are used up and nobody could read a verdict on the last one')
  if (onExhausted === 'escalate')
    return hold(draft, 'escalated', `the attempts are ${why === 'stagnated' ? 'not getting further' : 'used up'}; the owner decides`)
  if (onExhausted === 'fail')
    return void draft.emit('task.failed', { reason: why === 'stagnated' ? 'rework did not move' : 'the attempts are used up' })
  if (!candidate) return hold(draft, 'exhausted_unscored', `the attempts are used up and ${unscored(draft.state)}`)
  const { attempt, subject } = candidate
  if (subject.content !== draft.state.current?.content?.digest) draft.emit('restore.requested', { attempt, content: subject.content, why })
  else forceAcceptOn(draft, candidate, why)
}

/** Characters of what became of the last attempt that the operator reads at once. */
const mostWords = 300

/** That no decision exists is only half of it: whoever is asked wants to know why. */
function unscored({ feedback, attempts }: TaskState): string {
  const none = 'no graded decision on checked content exists'
  const last = (feedback?.summary ?? '').replaceAll(/\s+/g, ' ').trim()
  return last === '' ? none : `${none}; attempt ${attempts}: ${last.length <= mostWords ? last : `${last.slice(0, mostWords)}…`}`
}

/** Honest and visible: its own state, its score, and a question to the operator. */
export function forceAcceptOn(draft: Draft, candidate: DecidedContent, why: 'exhausted' | 'stagnated'): void {
  const score = candidate.decision.score
  if (!score) return hold(draft, 'exhausted_unscored', 'the only decision has no score')
  finish(draft, {
    kind: 'force_accepted',
    attempt: candidate.attempt,
    content: candidate.subject.content,
    score,
    vetoes: draft.state.vetoes,
    why,
    request: `accepted below the quality bar, score ${score.on100}/100: ${candidate.decision.concern}`,
  })
}

function hold(draft: Draft, reason: 'unreadable' | 'escalated' | 'exhausted_unscored', detail: string): void {
  draft.emit('task.held', { reason, from: draft.state.status, detail })
  raiseRequest(draft, draft.state.stagnated ? 'stagnated' : 'held', detail)
}

/** Two rounds in a row with the same category on the same pointers and no score gain. No pointers, no common surface. */
function stagnation(rounds: readonly Round[]): { category: Round['category']; pointers: string[]; rounds: number[] } | undefined {
  const [before, last] = rounds.slice(-2)
  if (!before || !last || last.pointers.length === 0) return undefined
  const same = before.category === last.category && before.pointers.join('\n') === last.pointers.join('\n')
  const gained = compare(exactOf(last.score), exactOf(before.score)) > 0
  return same && !gained ? { category: last.category, pointers: last.pointers, rounds: [before.attempt, last.attempt] } : undefined
}

/** The content of the attempt at hand, if judges graded it. */
function lastGraded(state: TaskState): DecidedContent | undefined {
  const content = state.current?.checksPassed ? state.current.content?.digest : undefined
  return usable(state).findLast((one) => one.subject.content === content)
}

/** The highest-scored graded content of any attempt; of equals the latest. */
function bestGraded(state: TaskState): DecidedContent | undefined {
  const scored = usable(state).flatMap((one) => (one.decision.score ? [{ one, score: exactOf(one.decision.score) }] : []))
  return scored.reduce<(typeof scored)[number] | undefined>(
    (best, next) => (best && compare(best.score, next.score) > 0 ? best : next),
    undefined,
  )?.one
}

/**
 * Only rejections by judges count, under the policy in force, and only where they are the last word on their content: what passed once and
 * was reopened is not below the bar, and what the owner turned is not for code to take back. What its merge changed cannot land as it is.
 */
function usable(state: TaskState): DecidedContent[] {
  return state.decided.filter((one) => {
    const { decision, subject, overruled } = one
    if (state.mergedOtherwise.includes(subject.content)) return false
    return decision.graded && decision.outcome === 'reject' && overruled === undefined && decisionOn(state, subject.content) === one
  })
}

function lastRoundUnreadable(state: TaskState): boolean {
  const last = state.ledger.at(-1)
  return last?.source === 'unreadable' && last.attempt === attemptAtHand(state)
}
