import type { Card, CardFlag, CardRequest, DeliverableVerdict, GateRefusal } from '../../contract/deliverable/deliverable.ts'
import { commitsIn, sourceWords } from '../../contract/deliverable/change.ts'
import type { TaskState } from '../task/state.ts'
import { namedDifferences } from '../policy/accepted.ts'
import { decisionFor, type DeliverableState, failureOf, verdictOf, type Waiver } from './deliverable.ts'

/** A card of the deliverable that was sent before, as it stands now. */
export type SentCard = Pick<Card, 'card' | 'digest' | 'flag' | 'task'> & { state: 'pending' | 'handled' | 'dismissed' | 'expired' }

/** Everything that the gate looks at. Nothing else decides whether a card reaches the owner. */
export interface ReleaseQuestion {
  request: CardRequest
  /** Who sends the card: an agent, or `runtime`. */
  from: string
  /** Name that the card will have. */
  card: string
  deliverable: DeliverableState | undefined
  /** The task that the latest version was judged in. */
  task: TaskState | undefined
  /** Why something that the task was built on counts no longer, where it does not and the task was not told of it yet. */
  upstream?: string | undefined
  /** What that task was given up for, where it was. */
  givenUp?: string | undefined
  /** Digest of the deliverable's bytes where it lies now; absent where that cannot be looked at (a text, an address). */
  digestNow?: string | undefined
  /** Digest of the policy in force. */
  policy: string
  /** What the policy in force says otherwise than the one that the owner accepted last; undefined where the owner stands behind it. */
  unaccepted: readonly string[] | undefined
  /** What the task says for itself and the owner does not stand behind; undefined where it asks as much as the policy. */
  loosened: readonly string[] | undefined
  /** Its `report_ready` cards so far. */
  sent: readonly SentCard[]
  now: number
}

export interface GateAnswer {
  verdict?: DeliverableVerdict
  /** A waived review let it through, or was asked for. */
  bypass: boolean
  outcome:
    | { kind: 'allowed'; card: Card }
    /**
     * `recorded` is written down in place of the message, and nothing else is told, where the sender is not to learn that there is such a thing.
     * `next` is the command that helps.
     */
    | { kind: 'refused'; code: GateRefusal; message: string; recorded?: string; next?: string }
}

/** Types that an agent may send. */
const agentTypes: readonly string[] = ['report_ready', 'milestone', 'trace']

/**
 * The only way to the owner's Inbox, for a card that somebody sends. A finished deliverable goes through on a PASS for exactly its current bytes,
 * criteria, rubric and policy with no veto standing, where the owner stands behind that policy and the task asks no less; on the owner's word for
 * those bytes; or on a bypass that is visible for ever.
 */
export function mayLeave(question: ReleaseQuestion): GateAnswer {
  const { request, from, deliverable } = question
  const bypass = request.metadata.evaluatorBypass === true
  const refuse = (code: GateRefusal, message: string): GateAnswer => ({ bypass, outcome: { kind: 'refused', code, message } })
  if (from !== 'runtime' && !agentTypes.includes(request.type))
    return refuse('type_reserved', `${request.type} cards come from the runtime alone; send report_ready, milestone or trace`)
  const id = request.metadata.deliverableId
  if (request.type !== 'report_ready') {
    if (id !== undefined)
      return refuse(
        'cannot_carry_deliverable',
        `a ${request.type} card carries no deliverable; send ${id} as report_ready once it has passed`,
      )
    return { bypass: false, outcome: { kind: 'allowed', card: plainCard(question) } }
  }
  if (id === undefined)
    return refuse('deliverable_missing', 'a report_ready card needs metadata.deliverableId; have the deliverable reviewed first')
  if (!deliverable) return refuse('deliverable_unknown', unknown(id))
  return mayLeaveWith(question, deliverable, bypass)
}

/** What is another's does not exist for whoever asks. */
const unknown = (id: string): string =>
  `there is no deliverable ${id} of yours; have it reviewed first (assay review … --deliverable ${id})`

function mayLeaveWith(question: ReleaseQuestion, deliverable: DeliverableState, asked: boolean): GateAnswer {
  const { task, digestNow, from } = question
  const { latest } = deliverable
  const verdict = verdictOf(latest, task)
  const refuse = (code: GateRefusal, message: string, next?: string): GateAnswer => ({
    verdict,
    bypass: asked,
    outcome: { kind: 'refused', code, message, ...(next !== undefined && { next }) },
  })
  const allow = (card: Card, bypass: boolean): GateAnswer => {
    const before = from === 'runtime' ? undefined : question.sent.find((one) => isSame(one, card))
    if (before)
      return refuse('already_sent', `exactly this was sent before: card ${before.card}, ${before.state}. A new version gets a new card`)
    return { verdict, bypass, outcome: { kind: 'allowed', card } }
  }
  if (from !== 'runtime' && from !== deliverable.producer) {
    const recorded = `${deliverable.deliverable} is ${deliverable.producer}'s: ${from} cannot hand it over`
    const outcome = { kind: 'refused', code: 'deliverable_unknown', message: unknown(deliverable.deliverable), recorded } as const
    return { verdict, bypass: asked, outcome }
  }
  if (deliverable.freed)
    return refuse('deliverable_unknown', `the owner took ${deliverable.deliverable} away from ${deliverable.producer}: bring it anew`)
  const waived = waiverOf(question, deliverable, digestNow ?? latest.digest)
  const isLatest = digestNow === undefined || digestNow === latest.digest
  if (!isLatest && !waived) return refuse('content_changed', ...changedSince(deliverable, task, question.policy))
  const refusal = isLatest ? reasonAgainst(question, deliverable, verdict) : undefined
  if (isLatest && !refusal)
    return allow(deliverableCard(question, deliverable, task?.done?.flag === 'owner-accepted' ? 'owner-accepted' : 'pass'), false)
  if (waived) {
    const { by, reason } = waived
    const version = isLatest ? latest : (waived.version ?? latest)
    return allow({ ...deliverableCard(question, { ...deliverable, latest: version }, 'bypassed'), bypass: { by, reason } }, true)
  }
  if (!refusal) throw new Error(`the gate has neither let ${deliverable.deliverable} through nor refused it`)
  if (asked) return refuse('bypass_refused', `agents cannot waive their review; the owner is asked. ${refusal.message}`)
  return refuse(refusal.code, refusal.message, refusal.next)
}

/** The bypass that covers these bytes now. One that an agent took for itself counts only under a policy that the owner stands behind. */
function waiverOf({ now, unaccepted }: ReleaseQuestion, { bypasses }: DeliverableState, digest: string): Waiver | undefined {
  return bypasses.findLast((one) => one.digest === digest && Date.parse(one.until) > now && !(one.byAgent && unaccepted !== undefined))
}

/** Sent before as the very same thing, and neither dealt with nor expired: a second card would say nothing new. */
function isSame(sent: SentCard, { digest, flag, task }: Card): boolean {
  const stands = sent.state === 'pending' || sent.state === 'dismissed'
  return stands && sent.digest === digest && sent.flag === flag && sent.task === task
}

/** Why the review does not open the gate; undefined where it does. */
function reasonAgainst(
  { task, policy, now, unaccepted, loosened, givenUp, upstream }: ReleaseQuestion,
  { deliverable, latest }: DeliverableState,
  verdict: DeliverableVerdict,
): { code: GateRefusal; message: string; next?: string } | undefined {
  const no = (code: GateRefusal, message: string, next?: string) => ({ code, message, ...(next !== undefined && { next }) })
  const again = reviewOf(deliverable)
  if (!task) return no('no_verdict', `${deliverable} was not reviewed: ${again}`, again)
  const waive = `assay bypass ${deliverable} --reason <why>`
  const anew = task.spec.outside ? again : waive
  if (latest.subject.policy !== policy || task.policy !== policy) return no('policy_changed', ...otherPolicy(deliverable, task, policy))
  if (task.staleInputs.length > 0 || task.hold?.reason === 'stale_input')
    return no(
      'upstream_changed',
      `what ${deliverable} rests on was opened again (${task.staleInputs.join(', ')}): it goes on when that lands`,
    )
  const concern = task.ledger.at(-1)?.concern ?? ''
  if (verdict === 'NEEDS_REVISION') return no('needs_revision', `${deliverable} needs revision: ${concern}`)
  const { flag } = task.done ?? {}
  if (flag === 'below-threshold' || flag === 'unreviewed')
    return no('not_clean', `${deliverable} was accepted ${flag}, not clean: the owner decides (assay requests, assay overrule)`)
  if (verdict === 'FAIL') return no('failed', `${deliverable} has failed: ${failureOf(task, givenUp)}. The owner may overrule or bypass`)
  if (upstream !== undefined) return no('upstream_changed', `${deliverable} has lost its ground (${upstream}): it goes on when that lands`)
  if (task.status === 'held') return no('no_verdict', `there is no decision on ${deliverable}: ${task.hold?.detail ?? ''}`)
  if (verdict === 'PENDING') return no('under_review', `there is no decision on ${deliverable} yet: it is ${task.status}`)
  if (latest.expires !== undefined && Date.parse(latest.expires) <= now) {
    const how = task.spec.outside ? 'have it reviewed again' : 'the owner may let it through unreviewed'
    return no('verdict_expired', `the verdict on ${latest.source ?? deliverable} counted until ${latest.expires}: ${how} (${anew})`, anew)
  }
  const decided = decisionFor(latest, task)
  const ownersWord = flag === 'owner-accepted'
  if (!ownersWord && !(decided?.decision.graded && decided.decision.outcome === 'pass'))
    return no('no_verdict', `there is no PASS for this content, these criteria, this rubric and this policy: ${anew}`, anew)
  if (!ownersWord && task.vetoes.length > 0)
    return no('veto_stands', `a veto stands on ${task.vetoes.map(({ criterion }) => criterion).join(', ')}`)
  if (!ownersWord && unaccepted !== undefined) return no('policy_not_accepted', notAccepted(deliverable, unaccepted))
  if (!ownersWord && loosened !== undefined) return no('policy_not_accepted', asksLess(deliverable, loosened))
  return undefined
}

const reviewOf = (deliverable: string): string => `assay review … --deliverable ${deliverable}`

/** What was decided under another policy, and what helps: a review of its own for what stands alone, the mission's own way for what it made. */
function otherPolicy(deliverable: string, { spec, done, policy: own }: TaskState, policy: string): [string, string] {
  const said = `${deliverable} was reviewed under another policy`
  const again = reviewOf(deliverable)
  if (spec.outside) return [`${said}: have it reviewed again (${again})`, again]
  const takesOver = `assay resume ${spec.mission ?? ''} --accept-policy`
  if (own !== policy && done?.flag !== 'owner-accepted')
    return [`${said}: it is reviewed again once the owner lets the one in force take over (${takesOver})`, takesOver]
  const waive = `assay bypass ${deliverable} --reason <why>`
  return [`${said}: the owner may let it through (${waive})`, waive]
}

/** The bytes at the source are not those that were reviewed. With no tries left the owner gives another one first. */
function changedSince({ deliverable, latest }: DeliverableState, task: TaskState | undefined, policy: string): [string, string] {
  const said = `${latest.source === undefined ? deliverable : sourceWords(latest.source)} has changed since it was reviewed`
  const again = reviewOf(deliverable)
  if (task?.status !== 'failed' || task.policy !== policy) return [`${said}: have it reviewed again (${again})`, again]
  const retry = `assay mission retry ${task.spec.mission ?? ''} --reason <why>`
  return [`${said}, and its tries are used up: the owner may give it another (${retry}), then have it reviewed again`, retry]
}

/** Says what differs, and what the owner does about it. */
export function notAccepted(what: string, differences: readonly string[]): string {
  return `${what} was decided under a policy that the owner has not accepted (${namedDifferences(differences)}). The owner accepts it with: assay policy accept`
}

/** The same for a task that says for itself what the policy says otherwise. */
function asksLess(deliverable: string, differences: readonly string[]): string {
  const less = `${deliverable} was judged by less, or by something else, than the policy that the owner accepted (${namedDifferences(differences)})`
  return `${less}. Let its task ask as much and do it again, or the owner lets it through with: assay bypass ${deliverable} --reason <why>`
}

function plainCard({ request, card, from }: ReleaseQuestion): Card {
  const { type, title, body, priority } = request
  return { card, type, title, body, priority, from, judges: [] }
}

function deliverableCard(question: ReleaseQuestion, { deliverable, latest }: DeliverableState, flag: CardFlag): Card {
  const { task } = question
  const commits = commitsIn(latest.source)
  return {
    ...plainCard(question),
    deliverable,
    task: latest.task,
    flag,
    snapshot: latest.snapshot,
    digest: latest.digest,
    ...(commits !== undefined && { commits }),
    ...(task && standing(task, latest.subject.content)),
  }
}

/** Score, bar and judges of a task's work, as a card shows them. */
export function standing(task: TaskState, content: string | null): Pick<Card, 'score' | 'bar' | 'judges'> {
  const decided = task.decided.findLast((one) => one.subject.content === content)
  const score = decided?.decision.score ?? (task.done?.content === content ? task.done?.score : undefined)
  return { bar: decided?.decision.bar ?? task.spec.bar, judges: decided?.judges ?? [], ...(score && { score }) }
}
