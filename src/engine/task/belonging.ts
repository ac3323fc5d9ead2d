import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { Journal } from '../../ports/journal.ts'
import { takenBackWith } from '../deliverables/cards/taken-back.ts'
import { type Behind, type Ground, heldBehind } from '../gates/behind.ts'
import { type Belonging, countsNoLonger, runOf, shutGates } from '../gates/open-again.ts'
import { taskStream } from '../streams.ts'
import { reactions } from './reactions.ts'

/**
 * What has to be written with a decision on a task that had ended: its run is open. Opened again, so that nothing starts in between: whatever was
 * made of it is held, gates that looked at any of that are shut, and cards that show any of it end.
 */
export async function belongingTo(ground: Ground & { journal: Journal }, before: MaybeTask, after: TaskState): Promise<Belonging[]> {
  const { journal } = ground
  const opened = countsNoLonger(before, after)
  const behind = opened ? await heldBehind(ground, after.spec.id) : []
  const undone = behind.filter((one) => countsNoLonger(one.before, one.after))
  const shut = await shutGates(journal, opened ? [after, ...undone.map((one) => one.after)] : [])
  const taken = await takenBackWith(journal, before, after)
  for (const one of undone) taken.push(...(await takenBackWith(journal, one.before, one.after)))
  return [...behind.map(asBelonging), ...shut, ...(await runOf(journal, after.spec)), ...onceEach(taken)]
}

function asBelonging({ after, version, events }: Behind): Belonging {
  return { stream: taskStream(after.spec.id), expected: version, events, work: reactions(events, version + 1, after) }
}

/** Two tasks may hand over under one id: what only has to stand still is named once. */
function onceEach(belonging: readonly Belonging[]): Belonging[] {
  return [...new Map(belonging.map((one) => [one.stream, one])).values()]
}
