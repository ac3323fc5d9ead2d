import type { CardRequest } from '../../contract/deliverable/deliverable.ts'
import type { DeliverableState } from '../../core/gate/deliverable.ts'
import { type GateAnswer, mayLeave } from '../../core/gate/release.ts'
import type { Engine } from '../engine.ts'
import type { InboxRow } from '../views/inbox.ts'
import { unacceptedDifferences } from '../../core/policy/accepted.ts'
import { loosenedTerms } from '../../core/policy/of-task.ts'
import { loadOwner, type PolicyStanding } from '../policy/owner.ts'
import { groundOf } from './cards/rests-on.ts'
import { cardsOf } from './inbox.ts'
import { type DeliverableReview, deliverableReview } from './review.ts'
import { givenUpFor, loadDeliverable } from './store.ts'

/** Everything about a deliverable that its owner or producer could ask for. */
export interface DeliverableStanding {
  state: DeliverableState
  review: DeliverableReview | undefined
  /** What the gate would answer to a card now; asking is not recorded. */
  gate: GateAnswer
  /** Its cards, newest first. */
  cards: InboxRow[]
  /** How the owner stands to the policy that its latest version was brought under. */
  policy: PolicyStanding
}

export async function deliverableStanding(
  engine: Engine,
  deliverable: string,
  digestOf: (source: string) => Promise<string | undefined>,
): Promise<DeliverableStanding | undefined> {
  const { parts } = engine
  const { state } = await loadDeliverable(parts, deliverable)
  if (!state) return undefined
  const { source, task } = state.latest
  const request: CardRequest = {
    type: 'report_ready',
    title: state.latest.title,
    body: '',
    priority: 'normal',
    metadata: { deliverableId: deliverable },
  }
  const cards = await cardsOf(parts, deliverable)
  const judged = await engine.task(task)
  const owner = (await loadOwner(parts)).state
  const gate = mayLeave({
    request,
    from: state.producer,
    card: '',
    deliverable: state,
    task: judged,
    upstream: judged && (await groundOf(parts.journal, task)).broken?.why,
    givenUp: await givenUpFor(parts, judged),
    digestNow: source === undefined ? undefined : await digestOf(source),
    policy: parts.rules.digest,
    unaccepted: unacceptedDifferences(owner, parts.rules),
    loosened: judged && loosenedTerms(owner, parts.rules, judged.spec),
    sent: cards,
    now: parts.clock.now(),
  })
  const policy = await engine.policyStanding(state.latest.subject.policy)
  return { state, review: await deliverableReview(engine, deliverable), gate, cards, policy }
}
