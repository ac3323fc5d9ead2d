import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { InputMaterial, Integration, OpenWorkspace } from '../../../ports/workspace.ts'
import { orFault } from '../fault.ts'
import { worktreeInputsFolder } from '../ignored.ts'
import { placeInputs, removeFolder } from '../inputs.ts'
import { type Desk, ignoring, rootOf, workspaceOf } from './desk.ts'
import { Git } from './git/git.ts'
import { findRepository, type Repository } from './git/repository.ts'
import { catchUp } from './join/catch-up.ts'
import { prepare } from './join/prepare.ts'
import { publish } from './join/publish.ts'
import { missionBranch } from './mission.ts'
import { discardWorktree, incomingOf, isFolder } from './place/fill.ts'
import { readyWorktree } from './place/ready.ts'
import { currentBase, readWorktree, writeWorktree } from './record.ts'

interface WorktreeOptions {
  folder: string
  projectRoot: string
  snapshots: SnapshotStore
  /** The git program; looked up in PATH unless told. */
  git?: string
}

/** Workspaces that are git worktrees of the repository that the project lies in. */
export class Worktrees {
  readonly #options: WorktreeOptions
  readonly #empty: () => Promise<Digest>
  readonly #git: Git
  #repository: Promise<Repository> | undefined

  constructor(options: WorktreeOptions, empty: () => Promise<Digest>) {
    this.#options = options
    this.#empty = empty
    this.#git = new Git(options.git)
  }

  async open(task: TaskSpec, inputs: readonly InputMaterial[]): Promise<OpenWorkspace> {
    const desk = await this.#desk()
    const record = await readyWorktree(desk, task, await missionBranch(desk.repository, desk.folder, task))
    const path = workspaceOf(desk, task)
    await placeWorktreeInputs(desk, task, inputs, path)
    return { path, base: currentBase(record).snapshot }
  }

  async restore(task: TaskSpec, content: Digest): Promise<void> {
    const desk = await this.#desk()
    await readyWorktree(desk, task, await missionBranch(desk.repository, desk.folder, task))
    orFault(await desk.snapshots.restore(content, workspaceOf(desk, task), { keep: ignoring(task) }))
  }

  /** Removes the worktree; the branch stays, and the task can be taken up again from it. */
  async close(task: TaskSpec): Promise<void> {
    const { folder } = this.#options
    const record = readWorktree(folder, task.id)
    const nothing = [rootOf({ folder }, task), incomingOf({ folder }, task)].every((place) => !lstatSync(place, { throwIfNoEntry: false }))
    if (nothing && !record?.open) return
    if (record?.open) writeWorktree(folder, { ...record, open: false })
    await discardWorktree(await this.#desk(), task)
  }

  integration(task: TaskSpec): Integration {
    return {
      prepare: async (content, note) => prepare(await this.#desk(), task, content, note),
      publish: async (merge) => publish(await this.#desk(), task, merge),
      catchUp: async () => catchUp(await this.#desk(), task),
    }
  }

  async #desk(): Promise<Desk> {
    const { folder, snapshots, projectRoot } = this.#options
    this.#repository ??= findRepository(this.#git, projectRoot).catch((error: unknown) => {
      this.#repository = undefined
      throw error
    })
    return { folder, snapshots, repository: await this.#repository, empty: await this.#empty() }
  }
}

/** The folder around the inputs may be the worker's, so it is made sure to be a plain one. */
async function placeWorktreeInputs(desk: Desk, task: TaskSpec, inputs: readonly InputMaterial[], path: string): Promise<void> {
  const place = join(path, worktreeInputsFolder)
  if (!isFolder(dirname(place))) {
    await removeFolder(desk.snapshots, desk.empty, dirname(place))
    if (inputs.length === 0) return
    mkdirSync(dirname(place))
  }
  await placeInputs(desk.snapshots, desk.empty, inputs, `${rootOf(desk, task)}.staging`, place)
}
