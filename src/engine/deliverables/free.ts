import { sha256Hex } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import { freeDeliverable } from '../../core/gate/deliverable.ts'
import { JournalFault } from '../../ports/journal.ts'
import type { EngineParts } from '../parts.ts'
import type { TaskRow } from '../views/tasks.ts'
import type { Bench } from '../work/bench.ts'
import { expireCards } from './emit.ts'
import { recordedCard } from './cards/recorded.ts'
import { finishAnew } from '../mission/finish.ts'
import { endAlerts, showEnding } from './hand-over.ts'
import { handleDeliverable } from './store.ts'

/** The owner takes an id away from its producer; the door has checked the authority. Cards that were sent under it count no longer. */
export async function freeId(parts: EngineParts, deliverable: string, order: { by: string; reason: string }): Promise<Result<true>> {
  const freed = await handleDeliverable(parts, deliverable, order.by, (state) => freeDeliverable(state, order))
  if (!freed.ok) return freed
  const expired = await expireCards(parts, deliverable, `${order.by} freed the id: ${order.reason}`)
  if (expired === 'busy') throw new JournalFault('busy', `${deliverable} is free, but its cards are being moved: take them back by hand`)
  return { ok: true, value: true }
}

/** Finished tasks of missions whose deliverable has this id hand it over now, as they could not before. */
export async function handOverAgain(bench: Bench, deliverable: string): Promise<void> {
  const { parts, tasks } = bench
  for (const { row } of await parts.journal.viewRows('tasks')) {
    const { id, status } = row as TaskRow
    const { state, version } = status === 'done' ? await tasks.load(id) : { state: undefined, version: 0 }
    const { spec } = state ?? {}
    if (!state || !spec?.deliverable || spec.outside === true || (spec.deliverable.id ?? spec.id) !== deliverable) continue
    const card = sha256Hex(`${deliverable} freed, ${id}@${version}`).slice(0, 24)
    const shown = await showEnding(bench, state, card)
    // What its run ended with was said of a task that could not hand over.
    if (shown === 'shown' && (await recordedCard(parts.journal, card))?.type === 'report_ready') {
      await endAlerts(parts, id)
      await finishAnew(parts, spec.mission ?? '', id)
    }
    if (shown === 'busy') throw new JournalFault('busy', `${id} could not be handed over: other writers were first time and again`)
  }
}
