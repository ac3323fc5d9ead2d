import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskSpec } from '../../../../contract/task.ts'
import { removeFolder } from '../../inputs.ts'
import { type Desk, drafting, rootOf } from '../desk.ts'
import { checkOut } from '../join/tree.ts'
import { register, unregister } from './registration.ts'

/** Files on their way into a worktree. They are written elsewhere first: git fills no folder that somebody else may be cleaning up. */
export const incomingOf = (desk: Pick<Desk, 'folder'>, task: TaskSpec): string => `${rootOf(desk, task)}.incoming`

export const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** A worktree on the task's branch with the files of `commit`; nothing of what was there before. */
export async function makeWorktree(desk: Desk, task: TaskSpec, ref: string, commit: string): Promise<void> {
  await discardWorktree(desk, task)
  await drafting(desk, async (draft) => renameSync(await checkOut(draft, commit, ''), incomingOf(desk, task)))
  await placeIncoming(desk, task, ref, false)
}

/** Moves the incoming files into the worktree. May be repeated where it was cut off. */
export async function placeIncoming(desk: Desk, task: TaskSpec, ref: string, registered: boolean): Promise<void> {
  const [root, incoming] = [rootOf(desk, task), incomingOf(desk, task)]
  if (!registered) {
    await removeFolder(desk.snapshots, desk.empty, join(root, '.git'))
    if (isFolder(root)) rmdirSync(root)
    await register(desk.repository, root, ref)
  }
  await removeFolder(desk.snapshots, desk.empty, join(incoming, '.git'))
  for (const name of readdirSync(incoming, { encoding: 'buffer' })) {
    renameSync(Buffer.concat([Buffer.from(`${incoming}/`), name]), Buffer.concat([Buffer.from(`${root}/`), name]))
  }
  rmdirSync(incoming)
}

/** Removes the worktree's folder and git's entry for it; its branch stays. */
export async function discardWorktree(desk: Desk, task: TaskSpec): Promise<void> {
  const { snapshots, empty, repository } = desk
  await removeFolder(snapshots, empty, rootOf(desk, task))
  await removeFolder(snapshots, empty, incomingOf(desk, task))
  await unregister(repository, rootOf(desk, task))
}

/** The way from the worktree's root to the workspace, made of plain folders: a link that a worker put there is removed, never followed. */
export async function makeWay(desk: Desk, task: TaskSpec): Promise<void> {
  let place = rootOf(desk, task)
  for (const part of desk.repository.prefix.split('/').filter((name) => name !== '')) {
    place = join(place, part)
    if (isFolder(place)) continue
    await removeFolder(desk.snapshots, desk.empty, place)
    mkdirSync(place)
  }
}
