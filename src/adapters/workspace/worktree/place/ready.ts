import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskSpec } from '../../../../contract/task.ts'
import { orFault, WorkspaceFault } from '../../fault.ts'
import { type Desk, drafting, ignoring, rootOf, workspaceOf } from '../desk.ts'
import { isAncestor, moveRef } from '../git/refs.ts'
import type { MissionBranch } from '../mission.ts'
import { readWorktree, type WorktreeRecord, writeWorktree } from '../record.ts'
import { discardWorktree, incomingOf, isFolder, makeWay, makeWorktree, placeIncoming } from './fill.ts'
import { entryOf, repairLink } from './registration.ts'

/** The task's worktree as its record says, made or put right where that is needed. Nobody works in it meanwhile. */
export async function readyWorktree(desk: Desk, task: TaskSpec, mission: MissionBranch): Promise<WorktreeRecord> {
  const known = readWorktree(desk.folder, task.id)
  const record = known?.open && (await isThere(desk, task, mission)) ? known : await begin(desk, task, mission, known)
  return settle(desk, task, mission, record)
}

/** Whether the files of an open worktree are there. One that git lost sight of is registered again, with its files. */
async function isThere(desk: Desk, task: TaskSpec, mission: MissionBranch): Promise<boolean> {
  const [root, incoming] = [rootOf(desk, task), incomingOf(desk, task)]
  const registered = entryOf(desk.repository, root) !== undefined
  if (isFolder(root) && !registered && !existsSync(incoming)) renameSync(root, incoming)
  if (isFolder(incoming)) await placeIncoming(desk, task, mission.taskRef, registered)
  return isFolder(root)
}

/** Begins at the mission as it is now; work of the task that is committed but not part of that yet is gone on from. */
async function begin(desk: Desk, task: TaskSpec, mission: MissionBranch, known: WorktreeRecord | undefined): Promise<WorktreeRecord> {
  if (known?.open) writeWorktree(desk.folder, { ...known, open: false })
  const last = known?.bases.at(-1)
  const unfinished = last?.prepared !== undefined && !(await isAncestor(desk.repository, last.prepared, mission.head))
  const tip = (unfinished ? last.prepared : undefined) ?? mission.head
  await discardWorktree(desk, task)
  await moveRef(desk.repository, mission.taskRef, tip)
  await makeWorktree(desk, task, mission.taskRef, tip)
  await makeWay(desk, task)
  const bases = known?.bases ?? []
  if (!unfinished) {
    const taken = orFault(await desk.snapshots.take(workspaceOf(desk, task), ignoring(task)))
    bases.push({ snapshot: taken.manifest.digest, commit: mission.head })
  }
  return writeWorktree(desk.folder, { version: 1, task: task.id, bases, open: true, tip })
}

/** Brings folder, branch and index to what the record says; every step may be repeated. */
export async function settle(desk: Desk, task: TaskSpec, mission: MissionBranch, record: WorktreeRecord): Promise<WorktreeRecord> {
  const root = rootOf(desk, task)
  const entry = entryOf(desk.repository, root)
  if (entry === undefined) throw new WorkspaceFault('git_failed', `git has no entry for the worktree ${root}`)
  await repairLink(desk.snapshots, desk.empty, root, entry)
  await makeWay(desk, task)
  const { pending, ...rest } = record
  if (pending !== undefined) orFault(await desk.snapshots.restore(pending, workspaceOf(desk, task), { keep: ignoring(task) }))
  if (pending === undefined && record.indexed === record.tip && existsSync(join(entry, 'index'))) return record
  await moveRef(desk.repository, mission.taskRef, record.tip)
  await makeIndex(desk, root, entry, record.tip)
  return writeWorktree(desk.folder, { ...rest, indexed: record.tip })
}

/** So that a worker's own `git status` shows its change and nothing else. */
async function makeIndex(desk: Desk, root: string, entry: string, commit: string): Promise<void> {
  const index = join(entry, 'index')
  rmSync(`${index}.lock`, { force: true })
  await drafting(desk, async (draft) => {
    await draft.text(['read-tree', commit], { index })
    // Its exit code says whether files differ, which is no matter here.
    await draft.run(['update-index', '-q', '--refresh'], { index, workTree: root })
  })
}
