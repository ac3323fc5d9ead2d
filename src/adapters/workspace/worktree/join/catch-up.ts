import type { TaskSpec } from '../../../../contract/task.ts'
import { orFault, WorkspaceFault } from '../../fault.ts'
import { type Desk, drafting, ignoring, workspaceOf } from '../desk.ts'
import type { Draft } from '../git/draft.ts'
import { missionBranch } from '../mission.ts'
import { readyWorktree, settle } from '../place/ready.ts'
import { type Base, currentBase, writeWorktree } from '../record.ts'
import { changesOf, fitChanges } from './changes.ts'
import { commitOn } from './commit.ts'
import { mergeTrees } from './merge.ts'
import { changedTree, snapshotOf } from './tree.ts'

/**
 * Merges the mission's branch into what is in the workspace now. What is to be there is recorded before a file is touched,
 * so that a repetition finishes the same merge and does not merge its own conflict markers.
 */
export async function catchUp(desk: Desk, task: TaskSpec): Promise<void> {
  const mission = await missionBranch(desk.repository, desk.folder, task)
  const record = await readyWorktree(desk, task, mission)
  const base = currentBase(record)
  if (base.commit === mission.head) return
  const next = await drafting(desk, async (draft) => {
    const tree = await mergedTree(desk, draft, task, base, mission.head)
    const taken = (treeish: string) => snapshotOf(draft, desk.snapshots, treeish, desk.repository.prefix, ignoring(task))
    return { content: await taken(tree), base: await taken(mission.head) }
  })
  const bases = [...record.bases, { snapshot: next.base, commit: mission.head }]
  await settle(desk, task, mission, writeWorktree(desk.folder, { ...record, bases, tip: mission.head, pending: next.content }))
}

async function mergedTree(desk: Desk, draft: Draft, task: TaskSpec, base: Base, head: string): Promise<string> {
  const before = await desk.snapshots.manifest(base.snapshot)
  if (!before) throw new WorkspaceFault('not_found', `there is no snapshot ${base.snapshot}`)
  const { manifest } = orFault(await desk.snapshots.take(workspaceOf(desk, task), ignoring(task)))
  const changes = fitChanges(changesOf(before, manifest))
  const from = { commit: base.commit, prefix: desk.repository.prefix, snapshot: manifest.digest }
  const tree = await changedTree(draft, desk.snapshots, from, changes)
  const note = { subject: `Work in progress on ${task.title}`, trailers: {} }
  const commit = await commitOn(draft, base.prepared ?? base.commit, tree, note, true)
  return (await mergeTrees(draft, head, commit)).tree
}
