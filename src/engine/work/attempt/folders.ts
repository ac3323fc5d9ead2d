import type { EventData } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { StreamAppend } from '../../../ports/journal.ts'
import type { EngineParts } from '../../parts.ts'
import { folderStream } from '../../streams.ts'
import { asNew } from '../../task/task-store.ts'

/** Whether a task may work in its folder now. A shared folder has one task at a time, from start to end. */
export type FolderHold =
  | { kind: 'private' }
  | { kind: 'free'; stream: string; version: number; folder: string }
  | { kind: 'own'; stream: string; version: number; folder: string }
  | { kind: 'busy'; task: string }

export async function holdsFolder({ journal, workspaces }: EngineParts, spec: TaskSpec): Promise<FolderHold> {
  const lineage = workspaces.lineage(spec)
  if (!lineage?.exclusive) return { kind: 'private' }
  const folder = lineage.key
  const stream = folderStream(folder)
  const events = await journal.readStream(stream)
  const last = events.at(-1)
  const holder = last && readEvent(last)
  if (holder?.type !== 'folder.taken') return { kind: 'free', stream, version: events.length, folder }
  const { task } = holder.data as EventData<'folder.taken'>
  return task === spec.id ? { kind: 'own', stream, version: events.length, folder } : { kind: 'busy', task }
}

/** Taking the folder is one decision with the attempt's start: of two tasks that try, one finds the stream changed. */
export function folderTaken(hold: FolderHold, spec: TaskSpec): StreamAppend[] {
  if (hold.kind !== 'free') return []
  const event = asNew({ type: 'folder.taken', data: { folder: hold.folder, task: spec.id } })
  return [{ stream: hold.stream, expected: hold.version, events: [event] }]
}

export function folderReleased(hold: FolderHold, spec: TaskSpec): StreamAppend[] {
  if (hold.kind !== 'own') return []
  const event = asNew({ type: 'folder.released', data: { folder: hold.folder, task: spec.id } })
  return [{ stream: hold.stream, expected: hold.version, events: [event] }]
}
