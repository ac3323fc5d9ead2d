import type { MaybeTask, TaskState } from '../../../core/task/state.ts'
import type { Journal } from '../../../ports/journal.ts'
import type { Belonging } from '../../gates/open-again.ts'
import { cardStream, deliverableStream } from '../../streams.ts'
import type { InboxRow } from '../../views/inbox.ts'
import { cardFrom } from './recorded.ts'

/** Id of what a task hands over; undefined where it hands nothing over. */
export function deliverableOf({ spec }: TaskState): string | undefined {
  return spec.deliverable && (spec.deliverable.id ?? spec.id)
}

/**
 * What has to be written with a decision that takes the acceptance of a task away: the end of its cards that are open, so that nobody is handed
 * what counts no longer. A card that is sent meanwhile moves the deliverable, and the decision is written anew.
 */
export async function takenBackWith(
  journal: Pick<Journal, 'head' | 'readStream' | 'viewRows'>,
  before: MaybeTask,
  after: TaskState,
): Promise<Belonging[]> {
  const deliverable = deliverableOf(after)
  if (before?.status !== 'done' || after.status === 'done' || deliverable === undefined) return []
  const stream = deliverableStream(deliverable)
  const rested: Belonging = { stream, expected: await journal.head(stream), events: [] }
  const ended: Belonging[] = []
  for (const { row } of await journal.viewRows('cards_of', { prefix: `${deliverable}|` })) {
    const { card } = row as { card: string }
    const events = await journal.readStream(cardStream(card))
    const known = cardFrom(events, card)
    if (known?.state !== 'pending' || known.task !== after.spec.id) continue
    ended.push({
      stream: cardStream(card),
      expected: events.length,
      events: [{ type: 'card.expired', data: { card, why: whyOver(after) } }],
    })
  }
  return [rested, ...ended]
}

function whyOver({ status, hold }: TaskState): string {
  if (status === 'held') return `its work is held: ${hold?.detail ?? ''}`
  return status === 'failed' ? 'its task has failed' : 'its decision was turned, or the work was opened again'
}

/** A card that vouches for accepted work; one that went out on a bypass says itself that it does not. */
export function saysAccepted({ flag, task, about }: InboxRow): boolean {
  return (flag === 'pass' || flag === 'owner-accepted') && task !== undefined && about === undefined
}

/** Why what a card says of accepted work is not so any more; undefined where it is. */
export function contradiction(row: InboxRow, task: MaybeTask): string | undefined {
  const { state, closed, task: id } = row
  if (state === 'expired') return `it has expired${closed ? `: ${closed.reason}` : ''}`
  if (!saysAccepted(row)) return undefined
  const accepted = task?.status === 'done' && (task.done?.flag === 'clean' || task.done?.flag === 'owner-accepted')
  return accepted ? undefined : `${id} is ${task?.status ?? 'gone'}, no longer accepted`
}
