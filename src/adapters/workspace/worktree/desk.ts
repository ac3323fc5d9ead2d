import { join } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import { isIgnored } from '../ignored.ts'
import { safeName } from '../names.ts'
import { type Draft, withDraft } from './git/draft.ts'
import type { Repository } from './git/repository.ts'

/** What everything about worktrees needs: where things lie, and the stores. */
export interface Desk {
  /** `.assay/work`. */
  folder: string
  snapshots: SnapshotStore
  repository: Repository
  /** The snapshot of nothing. */
  empty: Digest
}

/** The whole worktree of a task. */
export const rootOf = (desk: Pick<Desk, 'folder'>, task: TaskSpec): string => join(desk.folder, safeName(task.id))

/** The folder that the worker works in: the project's place in the worktree. */
export const workspaceOf = (desk: Desk, task: TaskSpec): string => join(rootOf(desk, task), desk.repository.prefix)

/** Out of workers' reach like all of `.assay`; no task's name begins with a dot. */
export const drafting = <T>(desk: Desk, use: (draft: Draft) => Promise<T>): Promise<T> =>
  withDraft(desk.repository, join(desk.folder, '.drafts'), use)

export const ignoring =
  (task: TaskSpec) =>
  (path: string): boolean =>
    isIgnored(path, task)
