import type { TaskSpec } from '../../contract/task.ts'

/** The folder in a workspace that holds what dependencies handed on. */
export const inputsFolder = 'inputs'

/** Assay's own state (the case file's folder among it), version control and installed packages: not the work, at any depth. */
const neverWork = new Set(['.assay', '.git', 'node_modules'])

/** True for paths that are not the work. Only a shared folder may have an `inputs/` of its own. */
export function isIgnored(path: string, task?: TaskSpec): boolean {
  const parts = path.split('/')
  if (parts[0] === inputsFolder && task?.workspace.kind !== 'folder') return true
  return parts.some((part) => neverWork.has(part))
}
