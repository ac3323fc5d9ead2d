import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { TaskSpec } from '../../contract/task.ts'
import type { SharedPlace } from '../../ports/workspace.ts'
import { errnoOf, WorkspaceFault } from './fault.ts'

/**
 * The shared folder that a task works in, as one text whatever way it was written; undefined where the task has a folder of its own.
 * Tasks with equal keys share their files. One key may lie inside another (`/p` and `/p/site`): those share files too.
 */
export function lineage(projectRoot: string, task: TaskSpec): string | undefined {
  return task.workspace.kind === 'folder' ? sharedFolder(projectRoot, task.workspace.path) : undefined
}

/** Relative paths are relative to the config file's folder. Links are resolved as far as the path exists. */
export function sharedFolder(projectRoot: string, path: string): string {
  const wanted = realFolder(resolve(projectRoot, path))
  if (wanted.split(sep).includes('.assay')) {
    throw new WorkspaceFault('bad_folder', `workspace folder ${JSON.stringify(path)} lies in .assay, where Assay keeps its own state`)
  }
  return wanted
}

export function sharedPlace(projectRoot: string, folder: string): SharedPlace {
  return { folder, config: realFolder(resolve(projectRoot)) }
}

function realFolder(path: string): string {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(realpathSync(existing), ...missing)
    } catch (error) {
      const errno = errnoOf(error)
      if ((errno !== 'ENOENT' && errno !== 'ENOTDIR') || existing === dirname(existing)) throw error
      missing.unshift(basename(existing))
    }
  }
}
