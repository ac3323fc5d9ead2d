import type { TaskSpec } from '../../../../contract/task.ts'
import { WorkspaceFault } from '../../fault.ts'
import type { Desk } from '../desk.ts'
import { isAncestor, moveRef } from '../git/refs.ts'
import { missionBranch } from '../mission.ts'
import { ObjectId } from '../record.ts'

/** Moves the mission's branch forward to a prepared merge. It is never moved back or sideways. */
export async function publish(desk: Desk, task: TaskSpec, merge: { commit: string; onto: string }): Promise<'published' | 'moved'> {
  const { repository, folder } = desk
  const [commit, onto] = [ObjectId.parse(merge.commit), ObjectId.parse(merge.onto)]
  const { ref, head } = await missionBranch(repository, folder, task)
  if (await isAncestor(repository, commit, head)) return 'published'
  if (head !== onto) return 'moved'
  if (!(await isAncestor(repository, onto, commit))) {
    throw new WorkspaceFault('git_failed', `commit ${commit} is not on top of ${onto}; the mission's branch stays where it is`)
  }
  if (await moveRef(repository, ref, commit, onto)) return 'published'
  const now = await missionBranch(repository, folder, task)
  return (await isAncestor(repository, commit, now.head)) ? 'published' : 'moved'
}
