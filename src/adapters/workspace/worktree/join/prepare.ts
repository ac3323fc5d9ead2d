import type { Digest } from '../../../../contract/canonical.ts'
import type { TaskSpec } from '../../../../contract/task.ts'
import type { Manifest } from '../../../../ports/snapshots.ts'
import type { CommitNote, PreparedMerge } from '../../../../ports/workspace.ts'
import { WorkspaceFault } from '../../fault.ts'
import { type Desk, drafting, ignoring } from '../desk.ts'
import type { Draft } from '../git/draft.ts'
import { moveRef } from '../git/refs.ts'
import { type MissionBranch, missionBranch } from '../mission.ts'
import { type Base, currentBase, readWorktree, type WorktreeRecord, writeWorktree } from '../record.ts'
import { type Changes, changesOf, isUnfit } from './changes.ts'
import { commitOn, mergeCommit } from './commit.ts'
import { mergeTrees } from './merge.ts'
import { changedTree, snapshotOf } from './tree.ts'

/** Commits the snapshot on the task's branch and merges it with the mission's; the workspace is not looked at. */
export async function prepare(
  desk: Desk,
  task: TaskSpec,
  content: { snapshot: Digest; base: Digest },
  note: CommitNote,
): Promise<PreparedMerge> {
  const { record, base } = recordedBase(desk, task, content.base)
  const changes = changesOf(await manifestOf(desk, base.snapshot), await manifestOf(desk, content.snapshot))
  const unfit = changes.put.map((file) => file.path).filter(isUnfit)
  if (unfit.length > 0) return { kind: 'conflict', paths: unfit, detail: 'git keeps no file of such a name; give it another one' }
  return drafting(desk, async (draft) => {
    const mission = await missionBranch(desk.repository, desk.folder, task)
    const commit = await commitWork(desk, draft, mission, { record, base, content: content.snapshot, changes, note })
    const joined = await joinWith(draft, mission.head, commit, note)
    if ('conflicts' in joined) {
      const paths = joined.conflicts.map((path) => fromProject(path, desk.repository.prefix))
      return { kind: 'conflict', paths, detail: joined.detail }
    }
    const { prefix } = desk.repository
    const taken = (treeish: string) => snapshotOf(draft, desk.snapshots, treeish, prefix, ignoring(task))
    const before = mission.head === base.commit ? base.snapshot : await taken(mission.head)
    const snapshot = joined.commit === mission.head ? before : await taken(joined.commit)
    rememberBase(desk, task, { snapshot: before, commit: mission.head })
    return { kind: 'merged', commit: joined.commit, onto: mission.head, snapshot, base: before }
  })
}

/** The base that the content was measured against: the one in force, or an earlier one where older work is taken up again. */
function recordedBase(desk: Desk, task: TaskSpec, snapshot: Digest): { record: WorktreeRecord; base: Base } {
  const record = readWorktree(desk.folder, task.id)
  const base = record?.bases.findLast((entry) => entry.snapshot === snapshot)
  if (record && base) return { record, base }
  throw new WorkspaceFault('bad_record', `no worktree of task ${task.id} ever started from snapshot ${snapshot}`)
}

async function manifestOf(desk: Desk, digest: Digest): Promise<Manifest> {
  const manifest = await desk.snapshots.manifest(digest)
  if (!manifest) throw new WorkspaceFault('not_found', `there is no snapshot ${digest}`)
  return manifest
}

/** The record names the commit only once the branch has it: an earlier commit that nobody was told of is not built upon. */
async function commitWork(
  desk: Desk,
  draft: Draft,
  mission: MissionBranch,
  work: { record: WorktreeRecord; base: Base; content: Digest; changes: Changes; note: CommitNote },
): Promise<string> {
  const { record, base, content, changes, note } = work
  const from = { commit: base.commit, prefix: desk.repository.prefix, snapshot: content }
  const tree = await changedTree(draft, desk.snapshots, from, changes)
  const commit = await commitOn(draft, base.prepared ?? base.commit, tree, note, base.prepared === undefined)
  await moveRef(desk.repository, mission.taskRef, commit)
  const bases = record.bases.map((entry) => (entry === base && commit !== base.commit ? { ...entry, prepared: commit } : entry))
  writeWorktree(desk.folder, { ...record, bases, tip: commit })
  return commit
}

/** The merge itself may be reviewed and prepared: then it is measured against the mission's files as it was merged with. The base in force stays the last. */
function rememberBase(desk: Desk, task: TaskSpec, joined: Base): void {
  const record = readWorktree(desk.folder, task.id)
  if (!record || record.bases.some((base) => base.snapshot === joined.snapshot && base.commit === joined.commit)) return
  writeWorktree(desk.folder, { ...record, bases: [...record.bases.slice(0, -1), joined, currentBase(record)] })
}

async function joinWith(
  draft: Draft,
  onto: string,
  task: string,
  note: CommitNote,
): Promise<{ commit: string } | { conflicts: string[]; detail: string }> {
  const common = (await draft.run(['merge-base', onto, task])).stdout.trim()
  if (common === task) return { commit: onto }
  if (common === onto) return { commit: task }
  const merged = await mergeTrees(draft, onto, task)
  if (merged.conflicts.length > 0) return merged
  return { commit: await mergeCommit(draft, onto, task, merged.tree, note) }
}

/** As the worker sees it; `:/` begins a path from the repository's root, as git writes it. */
function fromProject(path: string, prefix: string): string {
  if (prefix === '') return path
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : `:/${path}`
}
