import { commitsIn } from '../../../contract/deliverable/change.ts'
import type { DeliverableStanding } from '../../../engine/deliverables/look.ts'
import type { TurnedDown } from '../../../engine/deliverables/turned-down.ts'
import type { InboxRow } from '../../../engine/views/inbox.ts'
import { shortName } from '../commands/deliverable/inbox.ts'
import { cardWords, rejectedWords, standingWords } from '../commands/deliverable/words.ts'
import { againstBar } from '../report/report.ts'
import { policyWords } from '../policy/words.ts'
import type { Explanation } from './explain.ts'

/** Why a deliverable is in the inbox, or is not. */
export function explainDeliverable(
  { state, review, gate, cards, policy }: DeliverableStanding,
  elsewhere: readonly TurnedDown[] = [],
): Explanation {
  const { deliverable, latest, producer, bypasses, request } = state
  const commits = commitsIn(latest.source)
  const shown = cards.find((card) => card.type === 'report_ready' && card.digest === latest.digest && card.state !== 'expired')
  const older = shown ? undefined : cards.find((card) => card.type === 'report_ready' && card.state === 'pending')
  const { because, next } = shown ? whyShown(shown) : whyNot({ state, review, gate, cards, policy })
  const chain = [
    ...(older
      ? [`an older version is in the inbox, ${older.state}: ${standingWords(older)} (assay inbox show ${shortName(older.card)})`]
      : []),
    ...(shown && gate.outcome.kind === 'refused'
      ? [`another card would be refused now (${gate.outcome.code}): ${gate.outcome.message}`]
      : []),
    ...(policy.accepted ? [] : [`policy: ${policyWords(policy)}`]),
    ...(request ? [`asks you: ${request.request} (accept, fail)`] : []),
    ...(review
      ? [
          `review: ${review.verdict}, ${againstBar(review.score, review.bar)}, try ${review.attempt} of ${review.allowed} (assay why ${review.task})`,
        ]
      : []),
    ...elsewhere.slice(0, 1).map((one) => rejectedWords(one)),
    ...(review && review.judges.length > 0 ? [`judges: ${review.judges.join(', ')}`] : []),
    ...bypasses.slice(-1).map((one) => `bypass: ${one.by} waived the review of ${one.digest} until ${one.until}: ${one.reason}`),
    ...cards.slice(0, 2).map((card) => `card ${shortName(card.card)}: ${card.type}, ${card.state}, ${cardWords(card)}`),
    `version ${latest.submission}: ${latest.kind} by ${producer}, content ${latest.digest}${commits === undefined ? '' : `, commits ${commits}`}`,
  ]
  const word = shown ? `in the inbox, ${shown.state}` : older ? 'not in the inbox, but an older version is' : 'not in the inbox'
  return { id: deliverable, title: latest.title, state: word, because, chain: chain.slice(0, 7), next }
}

type Reason = Pick<Explanation, 'because' | 'next'>

function whyShown(card: InboxRow): Reason {
  const words = standingWords(card)
  return {
    because: `its card is in the inbox, ${card.state}: ${words}`,
    next: card.state === 'pending' ? `assay inbox show ${shortName(card.card)}` : `assay inbox --state all --search ${card.deliverable}`,
  }
}

function whyNot({ state, review, gate, policy }: DeliverableStanding): Reason {
  const { deliverable, request } = state
  const { outcome } = gate
  if (outcome.kind === 'allowed') {
    return {
      because: `the gate is open for it (${standingWords(outcome.card)}), and nobody has sent its card`,
      next: `assay deliverable send ${deliverable}`,
    }
  }
  const because = `the gate is shut (${outcome.code}): ${outcome.message}`
  if (request) return { because, next: `assay requests answer ${request.request} <accept or fail> --reason <why>` }
  if (outcome.next !== undefined) return { because, next: outcome.next.replace('review …', 'review <path>') }
  switch (outcome.code) {
    case 'failed':
    case 'not_clean':
    case 'veto_stands':
      return { because, next: `assay overrule ${deliverable} pass --reason <why>, or assay bypass ${deliverable} --reason <why>` }
    case 'policy_not_accepted': {
      // Where the policy is accepted, it is the task that asks for less than it.
      const word = policy.accepted ? `assay bypass ${deliverable}` : 'assay policy accept'
      return { because, next: `${word} --reason <why>, then assay deliverable send ${deliverable}` }
    }
    case 'already_sent':
      return { because, next: `assay inbox --state all --search ${deliverable}` }
    case 'under_review':
    case 'upstream_changed':
      return { because, next: `assay resume ${(review?.task ?? '').split('/')[0]}`.trimEnd() }
    case 'no_verdict':
      return { because, next: review && review.verdict === 'PENDING' ? `assay why ${review.task}` : again(deliverable) }
    default:
      return { because, next: again(deliverable) }
  }
}

const again = (deliverable: string): string => `assay review <path> --deliverable ${deliverable}`
