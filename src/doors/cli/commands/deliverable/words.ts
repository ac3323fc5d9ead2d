import type { Card } from '../../../../contract/deliverable/deliverable.ts'
import type { TurnedDown } from '../../../../engine/deliverables/turned-down.ts'
import { oneLine, type Output } from '../../output.ts'
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

/** The same for every card: one that stands for no work says so in a fixed word, before its title, which its sender chose. */
export function cardWords(card: Standing & Pick<Card, 'type' | 'from'>): string {
  const words = standingWords(card)
  if (words !== '') return words
  if (card.from !== 'runtime') return 'not reviewed'
  return card.type === 'error_alert' ? 'alert' : 'question'
}

export function paintStanding(output: Output, card: Standing & Pick<Card, 'type' | 'from'>): string {
  return output.paint(card.flag === 'pass' ? 'green' : 'yellow', cardWords(card))
}

/** What a card is about. A title is quoted, so that whatever it says is a title and nothing else. */
export function headWords({ type, deliverable, title }: Pick<Card, 'type' | 'deliverable' | 'title'>): string {
  const quoted = `"${oneLine(title).replaceAll('"', '\\"')}"`
  return type === 'report_ready' && deliverable !== undefined ? `${deliverable} ${quoted}` : quoted
}

/** Above what a mission's task says of its work. */
export const caseWords = 'The case that it was judged with says:'

/** That what follows is somebody's own word. */
export function saidWords(by: string): string {
  return `${oneLine(by, 60)} says, and nobody reviewed it:`
}

/** That another id with the very same content was turned down. */
export function rejectedWords({ deliverable, concern }: TurnedDown): string {
  return `the same content was rejected before as ${deliverable}: ${concern}`
}
