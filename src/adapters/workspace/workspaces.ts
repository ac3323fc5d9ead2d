import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Digest } from '../../contract/canonical.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import type { InputMaterial, SettledFolder, Workspaces } from '../../ports/workspace.ts'
import { faulting, orFault, WorkspaceFault } from './fault.ts'
import { inputsFolder, isIgnored } from './ignored.ts'
import { placeInputs, removeFolder } from './inputs.ts'
import { lineage, sharedFolder, sharedPlace } from './lineage.ts'
import { safeName } from './names.ts'
import { SharedFolders } from './held-folder/held-folder.ts'
import { changesByOthers } from './held-folder/others.ts'
import { programsStanding } from './held-folder/programs.ts'
import { missionOf } from './worktree/mission.ts'
import { Worktrees } from './worktree/worktrees.ts'

export interface WorkspaceOptions {
  /** Where private workspaces and records live: `.assay/work`. */
  folder: string
  /** Folder of the config file: shared folders are relative to it. */
  projectRoot: string
  snapshots: SnapshotStore
  /** The git program for worktrees; looked up in PATH unless told. */
  git?: string
}

export function openWorkspaces(options: WorkspaceOptions): Workspaces {
  const { snapshots, projectRoot } = options
  const folder = resolve(options.folder)
  let emptyTaken: Promise<Digest> | undefined
  const empty = () => {
    emptyTaken ??= takeEmpty(snapshots, folder).catch((error: unknown) => {
      emptyTaken = undefined
      throw error
    })
    return emptyTaken
  }
  const shared = new SharedFolders({ folder, projectRoot, snapshots })
  const worktrees = new Worktrees({ ...options, folder }, empty)
  const pathOf = (task: TaskSpec) =>
    task.workspace.kind === 'folder' ? sharedFolder(projectRoot, task.workspace.path) : join(folder, safeName(task.id))

  const openScratch = async (path: string, inputs: readonly InputMaterial[]) => {
    const base = await empty()
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) await removeFolder(snapshots, base, path)
    mkdirSync(path, { recursive: true })
    await placeInputs(snapshots, base, inputs, `${path}.staging`, join(path, inputsFolder))
    return { path, base }
  }
  const openPlain = async (task: TaskSpec, inputs: readonly InputMaterial[]) =>
    isShared(task) ? shared.open(task) : openScratch(pathOf(task), inputs)
  const doing = <T>(task: TaskSpec, work: () => Promise<T>) => faulting(`workspace of task ${task.id}`, work)

  const config = sharedPlace(projectRoot, folder).config
  return {
    config,
    open: (task, inputs) => doing(task, () => (isWorktree(task) ? worktrees.open(task, inputs) : openPlain(task, inputs))),
    ignored: isIgnored,
    async restore(task, content) {
      if (isWorktree(task)) return doing(task, () => worktrees.restore(task, content))
      orFault(await snapshots.restore(content, pathOf(task), { keep: (path) => isIgnored(path, task) }))
    },
    settle: async (task, outcome, left) => (isShared(task) ? orStuck(() => doing(task, () => shared.settle(task, outcome, left))) : {}),
    isAside: (task) => isShared(task) && shared.isAside(task),
    meddled: (task) =>
      isShared(task) ? doing(task, () => shared.meddled(task)) : Promise.resolve({ changed: [], replaced: [], added: [], removed: [] }),
    meddledByOthers: (task, others, places) => {
      const origin = isShared(task) ? shared.pathOf(task) : config
      return doing(task, () => changesByOthers({ folder, snapshots }, { task, origin, others, places }, shared))
    },
    standing: (task) => (isShared(task) ? doing(task, () => shared.standing(task)) : Promise.resolve({})),
    programs: async (tasks) => programsStanding(config, tasks.filter(isShared).map(shared.pathOf, shared)),
    found: (task) => (isShared(task) ? shared.found(task) : undefined),
    tampered: (task) => (isShared(task) ? doing(task, () => shared.tampered(task)) : Promise.resolve([])),
    shared: (task) => (isShared(task) ? sharedPlace(projectRoot, shared.pathOf(task)) : undefined),
    async close(task) {
      if (isShared(task)) return
      if (isWorktree(task)) return doing(task, () => worktrees.close(task))
      const path = pathOf(task)
      if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
      await doing(task, async () => removeFolder(snapshots, await empty(), join(path, inputsFolder)))
    },
    lineage: (task) => {
      if (isWorktree(task)) return { key: `worktree:${missionOf(task)}`, exclusive: false }
      const key = lineage(projectRoot, task)
      return key === undefined ? undefined : { key, exclusive: true }
    },
    integration(task) {
      if (!isWorktree(task)) return undefined
      const { prepare, publish, catchUp } = worktrees.integration(task)
      return {
        prepare: (content, note) => doing(task, () => prepare(content, note)),
        publish: (merge) => doing(task, () => publish(merge)),
        catchUp: () => doing(task, catchUp),
      }
    },
  }
}

/** Files that cannot be read or written as they stand are for a person to look at; a store that fails is none of the folder's. */
async function orStuck(settle: () => Promise<SettledFolder>): Promise<SettledFolder> {
  try {
    return await settle()
  } catch (error) {
    if (!(error instanceof WorkspaceFault) || !stuckCodes.has(error.code)) throw error
    return { stuck: error.message }
  }
}

const stuckCodes = new Set<WorkspaceFault['code']>(['io', 'too_large', 'changed_while_reading'])

const isShared = (task: TaskSpec): boolean => task.workspace.kind === 'folder'
const isWorktree = (task: TaskSpec): boolean => task.workspace.kind === 'worktree'

/** The snapshot of nothing: what a private workspace starts from. */
async function takeEmpty(snapshots: SnapshotStore, folder: string): Promise<Digest> {
  const nothing = join(folder, `${randomUUID()}.empty`)
  mkdirSync(nothing, { recursive: true })
  try {
    return orFault(await snapshots.take(nothing)).manifest.digest
  } finally {
    rmdirSync(nothing)
  }
}
