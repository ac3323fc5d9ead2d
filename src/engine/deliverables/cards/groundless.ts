import type { Journal } from '../../../ports/journal.ts'
import type { DeliverableRow } from '../../views/inbox.ts'
import { groundOf } from './rests-on.ts'

/** Of these accepted tasks, those whose deliverable no gate lets through since what they rest on is not what they were given, and what helps. */
export async function groundless(
  journal: Pick<Journal, 'head' | 'readStream' | 'viewRows'>,
  accepted: ReadonlySet<string>,
): Promise<{ task: string; why: string }[]> {
  const found = new Map<string, string>()
  for (const { row } of await journal.viewRows('deliverables')) {
    const { task } = row as DeliverableRow
    if (!accepted.has(task) || found.has(task)) continue
    const { broken } = await groundOf(journal, task)
    if (broken) found.set(task, `${broken.why}; to have it done again on that: assay overrule ${broken.task} fail --reason <why>`)
  }
  return [...found].map(([task, why]) => ({ task, why }))
}
