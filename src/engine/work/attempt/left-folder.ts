import { durationMs } from '../../../contract/config/duration.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import { isFinished } from '../../../core/task/decide.ts'
import type { TaskState } from '../../../core/task/state.ts'
import { isOutside } from '../../outside/who.ts'
import type { EngineParts } from '../../parts.ts'
import { taskStream } from '../../streams.ts'
import { freeFolder, putAside, takeFolder } from './folder-end.ts'
import { holdsFolder } from './folders.ts'

/** A process that lives takes what is due within a moment: work that nobody takes for so long, or for as long as a lease, is nobody's. */
const mostSilentMs = 10_000

interface Silence {
  since: number
  version: number
}

/** Since when nobody is seen to go on with a task that has a folder which another wants. */
const silences = new WeakMap<EngineParts, Map<string, Silence>>()

/**
 * What becomes of a folder that somebody wants and another task has. Where nobody goes on with that task, its work is put aside as that of a held task is, and is
 * brought back when it goes on. `cut_off`: an attempt was cut off in the middle, or whoever does it is outside and may still write there; only going on
 * with it can end that.
 */
export async function leftFolder(parts: EngineParts, state: TaskState): Promise<'in_use' | 'freed' | 'cut_off'> {
  if (!(await isLeft(parts, state))) return 'in_use'
  if (isFinished(state) || state.status === 'held') return (await freeFolder(parts, state)) === 'later' ? 'in_use' : 'freed'
  // Whoever works outside is no process that takes work; its own lease says whether it is there.
  if (state.status === 'running' && state.current?.outside) return 'in_use'
  const outside = state.spec.outside === true || isOutside(parts.rules.policy, state.spec.assignee)
  if (state.status === 'running' || state.restoring !== undefined || outside) return 'cut_off'
  return (await putAside(parts, state)) === 'later' ? 'in_use' : 'freed'
}

export function cutOffDetail({ spec, status }: TaskState): string {
  const mission = spec.mission ?? spec.id
  return `its folder is that of ${visible(spec.id)}, which is ${status} and which nobody goes on with. Go on with it (assay resume ${visible(mission)}), then answer retry`
}

async function isLeft(parts: EngineParts, { spec }: TaskState): Promise<boolean> {
  const known = silences.get(parts) ?? new Map<string, Silence>()
  silences.set(parts, known)
  const { due, leased } = await parts.journal.workCount([spec.mission ?? spec.id])
  const version = await parts.journal.head(taskStream(spec.id))
  const before = known.get(spec.id)
  if (leased > 0 || due === 0) {
    known.delete(spec.id)
    return false
  }
  if (before?.version !== version) {
    known.set(spec.id, { since: performance.now(), version })
    return false
  }
  const silentMs = Math.min(mostSilentMs, durationMs(parts.config.limits.workerLease))
  return performance.now() - before.since >= silentMs
}

/** Sees to it that a task has its shared folder, with its work in it, before that is written to; false where another has it now. */
export async function hasFolder(parts: EngineParts, spec: TaskSpec): Promise<boolean> {
  const hold = await holdsFolder(parts, spec)
  if (hold.kind === 'private') return true
  if (hold.kind !== 'own' && !(hold.kind === 'free' && (await takeFolder(parts, hold, spec)))) return false
  if (parts.workspaces.isAside(spec)) await parts.workspaces.open(spec, [])
  return true
}
