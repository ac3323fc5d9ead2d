import { type CheckSpec, checkId } from '../../../contract/check.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { TaskRow } from '../../views/tasks.ts'
import type { Bench } from '../bench.ts'

/** A check to be run on a submission: the task's own, or that of a task whose accepted work it must not break. */
export interface DueCheck {
  id: string
  spec: CheckSpec
  /** The snapshot that protected files are restored from: the one before the work that the check was written for. */
  base: string
}

/**
 * The task's own checks, and those of every accepted task of the mission whose files it builds on. In a worktree those files are there
 * only once it is joined with them.
 */
export async function dueChecks(bench: Bench, state: TaskState, base: string, joined: boolean): Promise<DueCheck[]> {
  const own = state.spec.checks.map((spec, index) => ({ id: checkId(spec, index), spec, base }))
  return [...own, ...(await regressions(bench, state, joined))]
}

async function regressions({ parts, tasks }: Bench, { spec }: TaskState, joined: boolean): Promise<DueCheck[]> {
  const lineage = parts.workspaces.lineage(spec)
  if (!lineage || spec.mission === undefined || !(lineage.exclusive || joined)) return []
  const rows = await parts.journal.viewRows('tasks', { prefix: `${spec.mission}/` })
  const due: DueCheck[] = []
  for (const row of rows.map((one) => one.row as TaskRow)) {
    if (row.id === spec.id || row.status !== 'done') continue
    const { state: other } = await tasks.load(row.id)
    if (other?.status !== 'done' || parts.workspaces.lineage(other.spec)?.key !== lineage.key || !provedByChecks(other)) continue
    const base = other.contents[other.done?.content ?? '']?.base
    if (base === undefined) continue
    for (const [index, check] of other.spec.checks.entries()) {
      if (looksAtFiles(check)) due.push({ id: `regression:${other.spec.id}:${checkId(check, index)}`, spec: check, base })
    }
  }
  return due
}

/** Not where the owner took work although its checks fail: nobody else can mend that. */
function provedByChecks({ current, done }: TaskState): boolean {
  return done?.content !== null && (current?.content?.digest !== done?.content || current?.checksPassed === true)
}

/** What others printed or changed is not in this task's work; what files say is. */
function looksAtFiles(check: CheckSpec): boolean {
  if (check.kind === 'diff' || check.kind === 'placeholders') return false
  return check.kind !== 'text' || check.path !== undefined
}
