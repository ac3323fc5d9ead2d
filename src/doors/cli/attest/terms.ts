import type { AttestedDecision } from '../../../contract/attest/statement.ts'
import { oneLine } from '../output.ts'

const mostNamed = 10

/** Each term of a decision that its owner does not stand behind, a line each: what differs and how. */
export function termLines({ notAccepted = [] }: Pick<AttestedDecision, 'notAccepted'>): string[] {
  const more = notAccepted.length - mostNamed
  return [...notAccepted.slice(0, mostNamed).map((term) => oneLine(term, 300)), ...(more > 0 ? [`and ${more} more`] : [])]
}
