import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { Policy } from '../../../contract/policy.ts'
import type { BrokenLink } from '../../../contract/chain.ts'
import type { Journal } from '../../../ports/journal.ts'
import { unqueuedWork } from '../queued.ts'
import { walkJournal } from '../walk.ts'
import { type Lost, queueAgain } from './again.ts'
import { lostFanOuts, proposingTask } from './fan-outs.ts'
import { handsOverTask, lostCards } from './lost-cards.ts'
import { BegunTellings, lostTellings } from './tellings.ts'
import { untoldTasks } from './untold.ts'

/** What events have called for besides the work of open tasks, gathered from all of them. */
export class Candidates {
  readonly handingOver: string[] = []
  readonly proposing: string[] = []
  readonly tellings = new BegunTellings()

  feed(event: StoredEvent): void {
    this.tellings.feed(event)
    const [handing, proposing] = [handsOverTask(event), proposingTask(event)]
    if (handing !== undefined) this.handingOver.push(handing)
    if (proposing !== undefined) this.proposing.push(proposing)
  }
}

/** Open tasks that nothing would ever happen to: their own work is gone, or what would tell them. By rows, which are to be proved first. */
export async function openLost(journal: Journal, policy: Policy): Promise<Lost[]> {
  return [...(await unqueuedWork(journal, policy)), ...(await untoldTasks(journal))]
}

/** Finished tasks of whose end nothing came that should have, and nothing would; and tellings that never end. */
export async function endingsLost(journal: Journal, { handingOver, proposing, tellings }: Candidates): Promise<Lost[]> {
  const tasks = [...(await lostCards(journal, handingOver)), ...(await lostFanOuts(journal, proposing))]
  return [...tasks, ...(await lostTellings(journal, tellings))]
}

/** Queues all work again that events call for and that is gone; rows are to be right by then. Returns what was missing, each queued again. */
export async function restoreQueue(journal: Journal, policy: Policy, at: string): Promise<BrokenLink[]> {
  const ending = new Candidates()
  const whole = await walkJournal(journal, (event) => ending.feed(event))
  if (!whole) return []
  return queueAgain(journal, [...(await openLost(journal, policy)), ...(await endingsLost(journal, ending))], at)
}
