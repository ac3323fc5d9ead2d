import type { Digest } from '../contract/canonical.ts'
import type { TaskSpec } from '../contract/task.ts'
import type { SnapshotProblem } from './snapshots.ts'

/** What a dependency hands on: files under `inputs/<name>/`, read-only, and text with its prefix. */
export interface InputMaterial {
  task: string
  title: string
  prefix: string
  content: Digest | null
  output: string
}

export interface OpenWorkspace {
  /** Absolute folder that the worker works in. */
  path: string
  /** Snapshot of it before the first attempt: what the change is measured against. */
  base: Digest
}

/** Tasks with the same key build on each other's files: what one broke of another is found by the other's checks. */
export interface Lineage {
  key: string
  /** One task at a time, from start to decision: they write in the very same folder. */
  exclusive: boolean
}

/** Paths of installed packages; what work that was not accepted left behind counts as changed. */
export interface PackageChanges {
  changed: string[]
  /** New ones that are found where another of the same name was found before. */
  replaced: string[]
  added: string[]
  removed: string[]
  /** Programs in folders of PATH that lie where a worker may write: new, gone or others than they were. A folder is named where nobody can tell. */
  programs?: string[]
}

/** What was found when a task's part of a shared folder was settled. */
export interface SettledFolder {
  /** Why it could not be done. It may be tried again. */
  stuck?: string
  /** Files that changed since the accepted work was handed in: those of the work were made what was accepted, and what lay there is in `kept`. */
  changed?: { corrected: string[]; others: string[]; kept?: string }
}

/** A folder that a task works in and that others use as well. */
export interface SharedPlace {
  folder: string
  /** The configuration's folder, links resolved as in `folder`: the same, inside of it, or elsewhere. */
  config: string
  /** The folder as programs of judges and checks are to find it, where that is not the base of the work. */
  before?: Digest
  /** Files and folders in it that are in no snapshot, hold such programs and are as they were. */
  kept?: readonly string[]
}

export interface Workspaces {
  /** The configuration's folder, links resolved. */
  config: string
  /** Makes or finds the task's workspace. Work of earlier attempts is still there: rework goes on from it. */
  open(task: TaskSpec, inputs: readonly InputMaterial[]): Promise<OpenWorkspace>
  /** True for paths that are not the work: `inputs/`, the case file's folder. In a shared folder `inputs/` may be work, so say whose path it is. */
  ignored(path: string, task?: TaskSpec): boolean
  /** What the task's files have in common with those of other tasks; undefined where it has a folder to itself. */
  lineage(task: TaskSpec): Lineage | undefined
  /** Where the task's live files lie beside others' (and perhaps beside the configuration); undefined where it has a folder to itself. */
  shared(task: TaskSpec): SharedPlace | undefined
  /** Puts a snapshot back as the workspace's content. */
  restore(task: TaskSpec, content: Digest): Promise<void>
  /**
   * Says what becomes of a shared folder before the task releases it. `keep`: its work stays there, and is brought back where it was put aside.
   * `put_back`: what it changed is made what it was when it took the folder, and its work is kept aside for when it goes on; `left` is the work as it
   * was handed in, where nobody worked on it since. What others changed stays. Where work is kept, its files are made what was handed in.
   * Nothing happens where the task has a folder to itself. May be repeated.
   */
  settle(task: TaskSpec, outcome: 'keep' | 'put_back', left?: Digest): Promise<SettledFolder>
  /** Whether the task's work is not in its shared folder, because it was put aside. */
  isAside(task: TaskSpec): boolean
  /** Installed packages of its shared folder, which are in no snapshot, that are not as they were when the task took it. */
  meddled(task: TaskSpec): Promise<PackageChanges>
  /**
   * Installed packages that a program run for the task may load and that the work of others has changed: of these tasks, which have a shared folder now,
   * or of work that was not accepted. `places` are files that are run where they lie. Paths are relative to where the task's packages are looked for.
   */
  meddledByOthers(task: TaskSpec, others: readonly TaskSpec[], places: readonly string[]): Promise<PackageChanges>
  /** How what is installed in its shared folder stands: between two looks that are equal nobody touched any of it, not even to put it back. Empty for a folder to itself. */
  standing(task: TaskSpec): Promise<Record<string, string>>
  /**
   * How programs stand, by their path, that PATH finds in the configuration's folder or in shared folders of these tasks: between two looks that are equal
   * nobody touched any. Empty where no folder of PATH lies there.
   */
  programs(tasks: readonly TaskSpec[]): Promise<Record<string, string>>
  /** Its shared folder as it was before the work that is in it now; undefined where the task has none there. */
  found(task: TaskSpec): Digest | undefined
  /** Version control inside its shared folder, at any depth, that is new, gone or decides otherwise than when the task took it. In no snapshot either. */
  tampered(task: TaskSpec): Promise<string[]>
  /** Removes what a finished task does not need any more. */
  close(task: TaskSpec): Promise<void>
  /** How finished work of this task joins what its mission has so far; undefined where it needs no joining. */
  integration(task: TaskSpec): Integration | undefined
}

/**
 * Joins a task's work with the mission's, on branches of Assay's own. Neither the user's checkout nor index nor branches are touched.
 * Every step may be repeated after a crash.
 */
export interface Integration {
  /** Commits the snapshot on the task's own branch and merges it with the mission's branch as it is now, without moving that. */
  prepare(content: { snapshot: Digest; base: Digest }, note: CommitNote): Promise<PreparedMerge>
  /** Moves the mission's branch to a prepared merge, unless it moved since. `published` also where the branch has it already. */
  publish(merge: { commit: string; onto: string }): Promise<'published' | 'moved'>
  /** Brings what the mission has by now into the task's workspace; conflicts stand in the files, marked. From then on change is measured against that. */
  catchUp(): Promise<void>
}

export interface CommitNote {
  subject: string
  /** Lines such as `Assay-Task: fix-login`. */
  trailers: Record<string, string>
}

export type PreparedMerge =
  | {
      kind: 'merged'
      commit: string
      /** The mission's branch as it was merged with. */
      onto: string
      /** The merge's files, and those of the mission's branch before it. */
      snapshot: Digest
      base: Digest
    }
  | { kind: 'conflict'; paths: string[]; detail: string }

export type WorkspaceFaultCode =
  | SnapshotProblem['code']
  | 'bad_folder'
  | 'bad_record'
  | 'no_repository'
  | 'git_missing'
  | 'git_too_old'
  | 'git_failed'

/** A workspace could not be had. Never a verdict about the work. */
export class WorkspaceFault extends Error {
  readonly code: WorkspaceFaultCode
  constructor(code: WorkspaceFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WorkspaceFault'
    this.code = code
  }
}
