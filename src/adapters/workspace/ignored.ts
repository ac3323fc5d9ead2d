import type { TaskSpec } from '../../contract/task.ts'

/** The folder in a scratch workspace that holds what dependencies handed on. */
export const inputsFolder = 'inputs'

/** The same in a worktree, where `inputs/` may be the repository's own. */
export const worktreeInputsFolder = '.assay/inputs'

/** Assay's own state (the case file's folder among it), version control and installed packages: not the work, at any depth. */
const neverWork = new Set(['.assay', '.git', 'node_modules'])

/** True for paths that are not the work. A shared folder or a repository may have an `inputs/` of its own. */
export function isIgnored(path: string, task?: Pick<TaskSpec, 'workspace'>): boolean {
  const parts = path.split('/')
  if (parts[0] === inputsFolder && (task?.workspace.kind ?? 'scratch') === 'scratch') return true
  return parts.some((part) => neverWork.has(part))
}
