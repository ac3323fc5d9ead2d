import { digestOf } from '../../contract/canonical.ts'
import type { TaskCommandOf } from '../../contract/commands/task.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { RejectedBefore, Subject } from '../../contract/review.ts'
import { advance, type Advance, type PanelRules, retrySeats } from '../panel/advance.ts'
import { bindingVetoes, quorumInForce } from '../panel/seating.ts'
import type { Seat } from '../panel/state.ts'
import { settleVetoes } from '../panel/veto.ts'
import { criteriaDigest, rubricDigest } from '../policy/policy.ts'
import { principalOf } from '../routing/principal.ts'
import { route } from '../routing/route.ts'
import { readReply } from '../verdict/read.ts'
import { sittingOf } from '../verdict/sitting.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { finish } from './merging.ts'
import { raiseRequest } from './requests.ts'
import { sendBack, settle } from './rework.ts'
import { attemptAtHand, type DecidedContent, type TaskState } from './state.ts'

/**
 * Work whose checks passed meets its judges, the decision that stands on it, or the honest word that nobody reviews it. `before` is a rejection of the same
 * that another task came to.
 */
export function beginReview(draft: Draft, rules: Rules, nonce: string, suspicions: string[], before?: RejectedBefore): void {
  const { rejectedByOwner, current: submitted } = draft.state
  const refused = rejectedByOwner[submitted?.content?.digest ?? ''] ?? (before && 'owner' in before ? before.owner : undefined)
  if (refused !== undefined) return rejectForOwner(draft, rules, refused)
  if (!rules.policy.review.evaluate) return acceptUnreviewed(draft, 'evaluation is off')
  const carried = before && 'decision' in before && isRejectionOf(draft.state, before) ? before : undefined
  const standing = standingDecision(draft.state, carried !== undefined)
  // A pass cannot be taken up again over a veto that was raised since: its holder is asked first.
  if (
    standing &&
    (standing.decision.outcome === 'reject' || standing.overruled === 'pass' || bindingVetoes(panelRules(draft.state, rules)).length === 0)
  ) {
    const { current } = draft.state
    draft.emit('decision.reused', { attempt: attemptAtHand(draft.state), submission: current?.submission ?? 1, review: standing.review })
    return settle(draft, rules, standing.decision, standing.overruled)
  }
  if (carried) {
    carryOver(draft, carried)
    return settle(draft, rules, carried.decision)
  }
  openReview(draft, rules, nonce, suspicions)
}

type Carried = Extract<RejectedBefore, { decision: unknown }>

/** Only a graded rejection is carried from task to task, never a pass: nobody's vote is copied. */
function isRejectionOf(state: TaskState, { subject, decision }: Carried): boolean {
  return decision.graded && decision.outcome === 'reject' && digestOf(subject) === digestOf(subjectOf(state))
}

function carryOver(draft: Draft, { task, review, subject, caseDigest, decision, judges }: Carried): void {
  const { state } = draft
  draft.emit('decision.carried', {
    review: state.reviews + 1,
    attempt: attemptAtHand(state),
    submission: state.current?.submission ?? 1,
    from: { task, review },
    ...{ subject, caseDigest, decision, judges },
  })
}

/** The owner has turned this very content down, and its bytes have not changed. */
function rejectForOwner(draft: Draft, rules: Rules, reason: string): void {
  const detail = `The owner rejected exactly this content: ${reason}`
  draft.emit('attempt.rejected', { attempt: attemptAtHand(draft.state), category: 'acceptance_gap', cause: 'owner', detail, reports: [] })
  sendBack(draft, rules)
}

/**
 * Takes up the review of what was submitted again, after the checks where others are asked for meanwhile.
 * Where the last attempt left nothing to review (an earlier one was to be restored), it goes on from there.
 */
export function resumeReview(draft: Draft, rules: Rules, nonce: string): void {
  const { current, spec } = draft.state
  if (!current?.checksPassed) return sendBack(draft, rules)
  const { attempt, submission } = current
  if (current.checkedWith !== digestOf(spec.checks)) return void draft.emit('checks.requested', { attempt, submission })
  beginReview(draft, rules, nonce, current.suspicions)
}

function openReview(draft: Draft, rules: Rules, nonce: string, suspicions: string[]): void {
  abandonReview(draft, rules, 'unreadable')
  const { spec, current, feedback } = draft.state
  const { agents, brains, review } = rules.policy
  const found = route({
    organisation: { agents, brains },
    assignee: spec.assignee,
    ...(spec.delegatedBy !== undefined && { delegatedBy: spec.delegatedBy }),
    participants: draft.state.authors,
    independence: review.independence,
  })
  if (found.kind === 'solo' && review.whenNoReviewer === 'accept') return acceptUnreviewed(draft, 'no other agent is configured')
  if (found.kind !== 'panel' || !current) {
    const refused = found.kind === 'none' ? found.refused.map((one) => `${one.agent} (${one.why})`).join(', ') : ''
    return holdReview(draft, 'no_reviewer', refused === '' ? 'no other agent is configured' : `nobody may review this: ${refused}`)
  }
  const principals = new Set(found.roster.map((judge) => judge.principal)).size
  draft.emit('review.opened', {
    review: draft.state.reviews + 1,
    attempt: attemptAtHand(draft.state),
    submission: current.submission,
    subject: subjectOf(draft.state),
    caseDigest: digestOf(current.case),
    nonce,
    roster: found.roster,
    size: review.panel.size,
    ...quorumInForce(review.panel, principals),
    points: (feedback?.points ?? []).filter((point) => point.source !== 'runtime' || point.from === 'owner'),
    warnings: found.warnings,
    suspicions,
  })
  proceed(draft, rules, nonce)
}

/** What the verdicts of a review are bound to. */
export function subjectOf(state: TaskState): Subject {
  return {
    content: state.current?.content?.digest ?? '',
    criteria: criteriaDigest(state.spec.criteria),
    rubric: rubricDigest(state.spec.dimensions, state.spec.bar),
    policy: state.policy,
  }
}

/** Identical content is not judged for a better draw: the decision stands, but for one more review where the case changed, unless it was `heard` elsewhere. */
function standingDecision(state: TaskState, heard: boolean): DecidedContent | undefined {
  const subject = digestOf(subjectOf(state))
  const same = state.decided.filter((one) => digestOf(one.subject) === subject)
  const argued = digestOf(state.current?.case)
  const mayBeHeardOnceMore = !heard && same.length === 1 && same[0]?.caseDigest !== argued && same[0]?.overruled === undefined
  return mayBeHeardOnceMore ? undefined : same.at(-1)
}

/** A judge answered. */
export function recordReply(state: TaskState, command: TaskCommandOf<'record_reply'>, rules: Rules): Decided {
  const asked = askedSeat(state, command, rules)
  if (!asked.ok) return asked
  const { seat, panel } = asked
  const { review, round, judge, reply, usage } = command
  const { criteria, dimensions, bar } = state.spec
  const draft = new Draft(state)
  const read = readReply(reply, { nonce: panel.nonce, criteria, dimensions, points: panel.points, form: seat.form })
  if (read.kind === 'unreadable') {
    draft.emit('task.eval.unparsed', {
      review,
      seat: seat.seat,
      judge,
      round,
      reason: read.reason,
      raw: reply.body,
      ...(usage && { usage }),
    })
  } else {
    const { principal } = seat
    const place = {
      seat: seat.seat,
      judge,
      principal,
      criteria,
      dimensions,
      bar,
      resolutions: command.resolutions,
      ...(usage && { usage }),
    }
    const { prompt, question, reused } = command
    draft.emit('verdict.recorded', {
      review,
      round,
      sitting: sittingOf(read, place),
      raw: reply.body,
      ...(prompt !== undefined && { prompt }),
      ...(question !== undefined && { question }),
      ...(reused && { reused }),
    })
  }
  proceed(draft, rules, command.nonce)
  return draft.done()
}

/** A judge could not be reached, after the caller's bounded retries. */
export function recordUnavailable(state: TaskState, command: TaskCommandOf<'record_unavailable'>, rules: Rules): Decided {
  const asked = askedSeat(state, command, rules)
  if (!asked.ok) return asked
  const { review, seat, judge, round, detail, usage } = command
  const draft = new Draft(state).emit('judge.unavailable', { review, seat, judge, round, detail, ...(usage && { usage }) })
  proceed(draft, rules, command.nonce)
  return draft.done()
}

/** The seat that an answer is for; a hold meanwhile does not lose it. Late, repeated and foreign answers find none; no author of the work finds one, whatever the caller believes. */
function askedSeat(state: TaskState, command: TaskCommandOf<'record_reply' | 'record_unavailable'>, rules: Rules) {
  const { panel } = state
  if (!panel || panel.review !== command.review) return refuse('stale_review', `review ${command.review} is not open`)
  const seat = panel.seats.find((one) => one.seat === command.seat)
  if (seat?.judge !== command.judge) return refuse('not_on_panel', `${command.judge} does not sit in seat ${command.seat}`)
  if (seat.status !== 'asked' || seat.round !== command.round)
    return refuse('stale_seat', `seat ${command.seat} does not await an answer to round ${command.round}`)
  if (authored(state, command.judge, rules)) return refuse('self_review', `${command.judge} had a hand in this work and may not judge it`)
  return { ok: true as const, seat, panel }
}

function authored(state: TaskState, judge: string, rules: Rules): boolean {
  const { agents, brains } = rules.policy
  const names = [state.spec.assignee, ...state.authors]
  if (names.includes(judge)) return true
  if (!agents[judge]) return false
  const principal = principalOf(judge, { agents, brains })
  return names.some((name) => agents[name] && principalOf(name, { agents, brains }) === principal)
}

/** Takes the panel as far as it can go without another answer. */
export function proceed(draft: Draft, rules: Rules, nonce: string): void {
  while (draft.state.status === 'in_review' && draft.state.panel) {
    const { panel } = draft.state
    const next = advance(panel, panelRules(draft.state, rules))
    if (next.kind === 'wait') return
    if (next.kind !== 'ask') return conclude(draft, rules, next, nonce)
    for (const voided of next.voided) draft.emit('seat.voided', voided)
    for (const seat of next.seats) ask(draft, seat)
    if (next.seats.length > 0) return
  }
}

function panelRules(state: TaskState, rules: Rules): PanelRules {
  const { criteria, dimensions, bar } = state.spec
  return { settings: rules.policy.review.panel, criteria, dimensions, bar, vetoes: state.vetoes }
}

function conclude(draft: Draft, rules: Rules, end: Exclude<Advance, { kind: 'ask' | 'wait' }>, nonce: string): void {
  if (end.kind === 'unavailable') return holdReview(draft, 'judge_unavailable', end.detail)
  if (end.kind === 'decide') {
    for (const lift of end.lifted) draft.emit('veto.lifted', lift)
    for (const veto of end.raised) draft.emit('veto.raised', veto)
  } else rememberVetoes(draft, rules)
  if (end.kind === 'unreadable') return concludeUnreadable(draft, rules, end, nonce)
  decideOn(draft, rules, end.decision)
}

/** Nobody gave a verdict that could be read. What that comes to is the policy's choice; it is never a clean pass. */
function concludeUnreadable(draft: Draft, rules: Rules, end: Extract<Advance, { kind: 'unreadable' }>, nonce: string): void {
  const { onUnreadable } = rules.policy.review
  if (onUnreadable === 'hold') return holdReview(draft, 'unreadable', end.detail)
  if (onUnreadable === 'accept' && !end.anyGradedOrAbstained) {
    abandonReview(draft, rules, 'accepted_unread')
    return acceptUnreviewed(draft, `nobody could be read, and the policy accepts that: ${end.detail}`)
  }
  if (onUnreadable === 'rejudge' && !draft.state.current?.rejudged) {
    abandonReview(draft, rules, 'unreadable')
    return openReview(draft, rules, nonce, draft.state.current?.suspicions ?? [])
  }
  decideOn(draft, rules, end.decision)
}

/** A veto on evidence stands even where its review came to no decision: only its judge, a panel or the owner lifts it. */
function rememberVetoes(draft: Draft, rules: Rules): void {
  const { panel } = draft.state
  if (!panel) return
  for (const veto of settleVetoes(panel, panelRules(draft.state, rules)).raised) draft.emit('veto.raised', veto)
}

/** Closes the open review, if there is one, without a decision. */
export function abandonReview(draft: Draft, rules: Rules, why: EventData<'review.abandoned'>['why']): void {
  const { panel } = draft.state
  if (!panel) return
  rememberVetoes(draft, rules)
  draft.emit('review.abandoned', { review: panel.review, why })
}

function decideOn(draft: Draft, rules: Rules, decision: Extract<Advance, { kind: 'decide' }>['decision']): void {
  draft.emit('review.decided', { review: draft.state.reviews, attempt: attemptAtHand(draft.state), decision })
  settle(draft, rules, decision)
}

export function holdReview(draft: Draft, reason: 'judge_unavailable' | 'unreadable' | 'no_reviewer', detail: string): void {
  draft.emit('task.held', { reason, from: 'in_review', detail })
  raiseRequest(draft, 'held', detail)
}

function acceptUnreviewed(draft: Draft, why: string): void {
  finish(draft, {
    kind: 'accepted',
    flag: 'unreviewed',
    attempt: attemptAtHand(draft.state),
    content: draft.state.current?.content?.digest ?? null,
    why,
  })
}

/** Asks again where judges could not be reached; finished verdicts stay. */
export function retryReview(state: TaskState, nonce: string, rules: Rules): Decided {
  if (state.hold?.reason !== 'judge_unavailable')
    return refuse('wrong_status', `the task is ${state.status}, not held for an unavailable judge`)
  const draft = new Draft(state)
  askUnavailableAgain(draft, nonce, rules)
  return draft.done()
}

export function askUnavailableAgain(draft: Draft, nonce: string, rules: Rules): void {
  draft.emit('hold.lifted', { reason: 'judge_unavailable', to: 'in_review', why: 'asked again' })
  if (!draft.state.panel) return resumeReview(draft, rules, nonce)
  for (const seat of retrySeats(draft.state.panel)) ask(draft, seat)
}

/** One judge's turn; of a judge outside it is said that nobody will call on it. */
function ask(draft: Draft, seat: EventData<'seat.asked'>): void {
  const outside = draft.state.panel?.roster.some((one) => one.judge === seat.judge && one.outside === true)
  draft.emit('seat.asked', outside ? { ...seat, outside } : seat)
}

/** Seats that a hold kept from being asked are asked anew. */
export function reaskOpenSeats(draft: Draft): void {
  const { panel } = draft.state
  for (const seat of panel?.seats.filter((one) => one.status === 'asked') ?? []) {
    ask(draft, askAgain(panel?.review ?? 1, seat))
  }
}

function askAgain(review: number, seat: Seat) {
  const { judge, principal, repeat } = seat
  return { review, seat: seat.seat, judge, principal, repeat, round: seat.round + 1, because: 'retry' as const }
}
