import type { Digest } from '../../../contract/canonical.ts'
import { isFinished } from '../../../core/task/decide.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { StreamAppend } from '../../../ports/journal.ts'
import type { EngineParts } from '../../parts.ts'
import { type FolderHold, folderReleased, folderTaken, holdsFolder } from './folders.ts'
import { isUnderWay } from './under-way.ts'

/**
 * Frees the shared folder of a task that is finished or held. Accepted work is in the folder then; of any other, what it changed there is put back.
 * `later`: its worker is still at work, or its work has to come back into a folder that another task has now.
 */
export async function freeFolder(parts: EngineParts, state: TaskState): Promise<'freed' | 'later'> {
  if (!isFinished(state) && state.status !== 'held') return 'freed'
  const { spec, status } = state
  if (isUnderWay(parts, spec.id)) return 'later'
  const hold = await holdsFolder(parts, spec)
  if (hold.kind === 'private') return 'freed'
  const accepted = status === 'done'
  if (hold.kind !== 'own') {
    if (!accepted || !parts.workspaces.isAside(spec)) return 'freed'
    if (hold.kind === 'busy' || !(await append(parts, folderTaken(hold, spec)))) return 'later'
    return release(parts, state, { ...hold, kind: 'own', version: hold.version + 1 }, accepted)
  }
  return release(parts, state, hold, accepted)
}

async function release(parts: EngineParts, state: TaskState, hold: FolderHold, accepted: boolean): Promise<'freed' | 'later'> {
  const left = handedIn(state)
  await parts.workspaces.settle(state.spec, accepted ? 'keep' : 'put_back', ...(left === undefined ? [] : [left]))
  return (await append(parts, folderReleased(hold, state.spec))) ? 'freed' : 'later'
}

/** The work as it was handed in; undefined where a worker may have gone on since, or never handed anything in. */
function handedIn({ current }: TaskState): Digest | undefined {
  if (!current?.content || (current.conversational && !current.checksPassed)) return undefined
  return current.content.snapshot as Digest
}

async function append({ journal, clock }: EngineParts, streams: StreamAppend[]): Promise<boolean> {
  const { ok } = await journal.append({ streams, meta: { at: new Date(clock.now()).toISOString(), actor: 'runtime' } })
  return ok
}
