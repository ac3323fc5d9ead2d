import type { EventData } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { StreamAppend } from '../../../ports/journal.ts'
import type { SettledFolder } from '../../../ports/workspace.ts'
import type { EngineParts } from '../../parts.ts'
import { foldersStream, folderStream } from '../../streams.ts'
import { asNew } from '../../task/task-store.ts'
import type { FolderRow } from '../../views/folders.ts'

/** Whether a task may work in its folder now. A shared folder has one task at a time, from start to end. */
export type FolderHold =
  | { kind: 'private' }
  | { kind: 'free'; stream: string; version: number; folder: string; takings: number }
  | { kind: 'own'; stream: string; version: number; folder: string }
  | { kind: 'busy'; task: string }
  /** What the task left there cannot be put back. */
  | { kind: 'stuck'; task: string; folder: string; why: string }

export async function holdsFolder({ journal, workspaces }: EngineParts, spec: TaskSpec): Promise<FolderHold> {
  const lineage = workspaces.lineage(spec)
  if (!lineage?.exclusive) return { kind: 'private' }
  const folder = lineage.key
  const stream = folderStream(folder)
  // Before the rows are looked at: whatever is taken afterwards is found when this one is.
  const takings = await journal.head(foldersStream)
  const events = await journal.readStream(stream)
  const version = events.length
  const last = events.at(-1)
  const holder = last && readEvent(last)
  if (holder?.type === 'folder.taken' || holder?.type === 'folder.stuck') {
    const { task } = holder.data as EventData<'folder.taken'>
    if (task === spec.id) return { kind: 'own', stream, version, folder }
    return holder.type === 'folder.taken' ? { kind: 'busy', task } : { kind: 'stuck', ...(holder.data as EventData<'folder.stuck'>) }
  }
  const others = (await journal.viewRows('folders')).map(({ row }) => row as FolderRow)
  const nested = others.find((other) => other.task !== spec.id && isOneInTheOther(other.folder, folder))
  return nested ? { kind: 'busy', task: nested.task } : { kind: 'free', stream, version, folder, takings }
}

/** Two folders share files where one lies in the other. */
function isOneInTheOther(one: string, other: string): boolean {
  const within = (outer: string, inner: string) => inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
  return one === other || within(one, other) || within(other, one)
}

export function stuckDetail({ folder, task, why }: Extract<FolderHold, { kind: 'stuck' }>): string {
  return `the folder ${visible(folder)} cannot be used: what ${task} left there cannot be put back (${visible(why)}). Make its files writable, then answer retry`
}

/** Taking the folder is one decision with the attempt's start: of two tasks that try, one finds the stream changed. */
export function folderTaken(hold: FolderHold, spec: TaskSpec): StreamAppend[] {
  if (hold.kind !== 'free') return []
  const event = asNew({ type: 'folder.taken', data: { folder: hold.folder, task: spec.id } })
  return [
    { stream: hold.stream, expected: hold.version, events: [event] },
    { stream: foldersStream, expected: hold.takings, events: [event] },
  ]
}

/** What became of the folder at the end: released, with what had changed there; or not, and why. */
export function folderEnded(hold: FolderHold, spec: TaskSpec, { stuck, changed }: SettledFolder): StreamAppend[] {
  if (hold.kind !== 'own') return []
  const whose = { folder: hold.folder, task: spec.id }
  const events =
    stuck === undefined
      ? [
          ...(changed ? [asNew({ type: 'folder.changed', data: { ...whose, ...changed } })] : []),
          asNew({ type: 'folder.released', data: whose }),
        ]
      : [asNew({ type: 'folder.stuck', data: { ...whose, why: stuck } })]
  return [{ stream: hold.stream, expected: hold.version, events }]
}
