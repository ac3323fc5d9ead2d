import type { Digest } from '../contract/canonical.ts'
import type { TaskSpec } from '../contract/task.ts'

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

export interface Workspaces {
  /** Makes or finds the task's workspace. Work of earlier attempts is still there: rework goes on from it. */
  open(task: TaskSpec, inputs: readonly InputMaterial[]): Promise<OpenWorkspace>
  /** True for paths that are not the work: `inputs/`, the case file's folder. In a shared folder `inputs/` may be work, so say whose path it is. */
  ignored(path: string, task?: TaskSpec): boolean
  /** Names the folder that the task shares with others; undefined where it has one to itself. */
  lineage(task: TaskSpec): string | undefined
  /** Puts a snapshot back as the workspace's content. */
  restore(task: TaskSpec, content: Digest): Promise<void>
  /** Removes what a finished task does not need any more. */
  close(task: TaskSpec): Promise<void>
}
