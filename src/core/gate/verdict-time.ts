import type { AssayEvent } from '../../contract/events/manifest.ts'

interface Placed {
  event: AssayEvent
  at: string
}

/** Until when the verdict on what lay at an address counts: from the verdict on, whenever it is handed over. */
export function verdictExpiry(placed: readonly Placed[], content: string, ttlMs: number): string | undefined {
  const decided = verdictTime(placed, content)
  return decided === undefined ? undefined : new Date(Date.parse(decided) + ttlMs).toISOString()
}

/**
 * When what was brought last with this content was first judged, or the owner took it: what lies at an address was seen shortly before. A later
 * review of the same bytes says nothing of what lies there by then. Undefined where nobody decided on it.
 */
function verdictTime(placed: readonly Placed[], content: string): string | undefined {
  const brought = placed.findLastIndex(({ event }) => event.type === 'case.submitted' && event.data.content.digest === content)
  const reviews = new Set(placed.flatMap(({ event }) => (isReviewOf(event, content) ? [event.data.review] : [])))
  const end = placed.findLast(({ event }) => event.type === 'task.accepted' || event.type === 'task.force_accepted')
  if (end?.event.type === 'task.accepted' && end.event.data.flag === 'owner-accepted' && end.event.data.content === content) return end.at
  return placed
    .slice(brought + 1)
    .find(({ event }) => (event.type === 'review.decided' || event.type === 'decision.reused') && reviews.has(event.data.review))?.at
}

function isReviewOf(event: AssayEvent, content: string): event is Extract<AssayEvent, { type: 'review.opened' }> {
  return event.type === 'review.opened' && event.data.subject.content === content
}
