import type { Card } from '../../../../contract/deliverable/deliverable.ts'
import type { TurnedDown } from '../../../../engine/deliverables/turned-down.ts'
import type { Output } from '../../output.ts'
import { barOn100 } from '../../render/task.ts'

type Standing = Pick<Card, 'flag' | 'score' | 'bar' | 'bypass'>

const scoreOf = ({ score, bar }: Standing): string =>
  score === undefined ? 'UNSCORED' : bar === undefined ? String(score.on100) : `${score.on100}/${barOn100(bar)}`

/** How the work on a card stands, in words that cannot be taken for each other; empty for a card that stands for no work. */
export function standingWords(card: Standing): string {
  switch (card.flag) {
    case 'pass':
      return `PASS (${scoreOf(card)})`
    case 'owner-accepted':
      return `OWNER-ACCEPTED (${scoreOf(card)})`
    case 'below-threshold':
      return `ACCEPTED BELOW QUALITY BAR (${scoreOf(card)})`
    case 'bypassed':
      return `UNREVIEWED (bypass by ${card.bypass?.by ?? 'somebody'})`
    case 'unreviewed':
      return 'UNREVIEWED'
    default:
      return ''
  }
}

export function paintStanding(output: Output, card: Standing, text = standingWords(card)): string {
  return card.flag === undefined ? text : output.paint(card.flag === 'pass' ? 'green' : 'yellow', text)
}

/** That another id with the very same content was turned down. */
export function rejectedWords({ deliverable, concern }: TurnedDown): string {
  return `the same content was rejected before as ${deliverable}: ${concern}`
}
