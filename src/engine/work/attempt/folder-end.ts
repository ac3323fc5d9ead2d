import type { Digest } from '../../../contract/canonical.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import { isFinished } from '../../../core/task/decide.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { StreamAppend } from '../../../ports/journal.ts'
import type { EngineParts } from '../../parts.ts'
import { type FolderHold, folderEnded, folderTaken, holdsFolder } from './folders.ts'
import { pagePath } from './submission.ts'
import { isUnderWay } from './under-way.ts'

/**
 * Frees the shared folder of a task that is finished or held. Accepted work is in the folder then; of any other, what it changed there is put back.
 * `later`: its worker is still at work, or its work has to come back into a folder that another task has now. `stuck`: what it left cannot be put back;
 * that is written down, and whoever wants the folder next is held.
 */
export async function freeFolder(parts: EngineParts, state: TaskState): Promise<'freed' | 'later' | 'stuck'> {
  if (!isFinished(state) && state.status !== 'held') return 'freed'
  const { spec, status } = state
  if (isUnderWay(parts, spec.id)) return 'later'
  const hold = await holdsFolder(parts, spec)
  if (hold.kind === 'private') return 'freed'
  const accepted = status === 'done'
  if (hold.kind !== 'own') {
    if (!accepted || !parts.workspaces.isAside(spec)) return 'freed'
    if (hold.kind !== 'free' || !(await takeFolder(parts, hold, spec))) return 'later'
    return release(parts, state, { ...hold, kind: 'own', version: hold.version + 1 }, accepted)
  }
  return release(parts, state, hold, accepted)
}

/** Frees the folder of a task that is neither finished nor held, and that nobody goes on with: its work is put aside. */
export async function putAside(parts: EngineParts, state: TaskState): Promise<'freed' | 'later' | 'stuck'> {
  if (isUnderWay(parts, state.spec.id)) return 'later'
  const hold = await holdsFolder(parts, state.spec)
  return hold.kind === 'own' ? release(parts, state, hold, false) : 'freed'
}

/** Takes a folder that is free; false where another was first. */
export function takeFolder(parts: EngineParts, hold: FolderHold, spec: TaskSpec): Promise<boolean> {
  return append(parts, folderTaken(hold, spec))
}

async function release(parts: EngineParts, state: TaskState, hold: FolderHold, accepted: boolean): Promise<'freed' | 'later' | 'stuck'> {
  const left = accepted ? await acceptedWork(parts, state) : handedIn(state)
  const settled = await parts.workspaces.settle(state.spec, accepted ? 'keep' : 'put_back', ...(left === undefined ? [] : [left]))
  if (!(await append(parts, folderEnded(hold, state.spec, settled)))) return 'later'
  return settled.stuck === undefined ? 'freed' : 'stuck'
}

/** The files that were accepted. A page that was fetched with them never lay in the folder. */
async function acceptedWork({ snapshots }: EngineParts, { done, contents, spec }: TaskState): Promise<Digest | undefined> {
  const snapshot = contents[done?.content ?? '']?.snapshot as Digest | undefined
  if (snapshot === undefined || spec.deliverable?.kind !== 'url') return snapshot
  const manifest = await snapshots.manifest(snapshot)
  return (
    manifest &&
    snapshots.compose(
      manifest.files.filter(({ path }) => path !== pagePath),
      manifest.refused,
    )
  )
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
