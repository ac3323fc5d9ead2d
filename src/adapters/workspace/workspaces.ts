import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Digest } from '../../contract/canonical.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import type { InputMaterial, Workspaces } from '../../ports/workspace.ts'
import { readBase, writeBase } from './base-record.ts'
import { faulting, orFault, WorkspaceFault } from './fault.ts'
import { inputsFolder, isIgnored } from './ignored.ts'
import { placeInputs, removeFolder } from './inputs.ts'
import { lineage, sharedFolder } from './lineage.ts'
import { safeName } from './names.ts'

export interface WorkspaceOptions {
  /** Where private workspaces and records live: `.assay/work`. */
  folder: string
  /** Folder of the config file: shared folders are relative to it. */
  projectRoot: string
  snapshots: SnapshotStore
}

/** The port, and the name of the folder that a task shares with others. */
export type FolderWorkspaces = Workspaces & { lineage(task: TaskSpec): string | undefined }

export function openWorkspaces(options: WorkspaceOptions): FolderWorkspaces {
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
  const pathOf = (task: TaskSpec) => workspacePath(folder, projectRoot, task)

  const openScratch = async (path: string, inputs: readonly InputMaterial[]) => {
    const base = await empty()
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) await removeFolder(snapshots, base, path)
    mkdirSync(path, { recursive: true })
    await placeInputs(snapshots, base, inputs, `${path}.staging`, join(path, inputsFolder))
    return { path, base }
  }

  return {
    open(task, inputs) {
      return faulting(`workspace of task ${task.id}`, async () => {
        const path = pathOf(task)
        return task.workspace.kind === 'folder'
          ? { path, base: await sharedBase(snapshots, folder, task, path) }
          : openScratch(path, inputs)
      })
    },
    ignored: isIgnored,
    async restore(task, content) {
      orFault(await snapshots.restore(content, pathOf(task), { keep: (path) => isIgnored(path, task) }))
    },
    async close(task) {
      if (task.workspace.kind === 'folder') return
      const path = pathOf(task)
      if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
      await faulting(`workspace of task ${task.id}`, async () => removeFolder(snapshots, await empty(), join(path, inputsFolder)))
    },
    lineage: (task) => lineage(projectRoot, task),
  }
}

function workspacePath(folder: string, projectRoot: string, task: TaskSpec): string {
  switch (task.workspace.kind) {
    case 'scratch':
      return join(folder, safeName(task.id))
    case 'folder':
      return sharedFolder(projectRoot, task.workspace.path)
    case 'worktree':
      throw new WorkspaceFault('unsupported', `task ${task.id} asks for a git worktree, which this version does not have`)
  }
}

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

/** A shared folder is not copied; what it held when the task first opened it is kept. */
async function sharedBase(snapshots: SnapshotStore, folder: string, task: TaskSpec, path: string): Promise<Digest> {
  const record = join(folder, `${safeName(task.id)}.base`)
  mkdirSync(path, { recursive: true })
  const known = readBase(record, task.id)
  if (known !== undefined) return known
  const taken = orFault(await snapshots.take(path, (inner) => isIgnored(inner, task)))
  writeBase(record, task.id, taken.manifest.digest)
  return taken.manifest.digest
}
