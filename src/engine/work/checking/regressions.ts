import { type CheckSpec, checkId } from '../../../contract/check.ts'
import type { Content } from '../../../contract/case.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { TaskRow } from '../../views/tasks.ts'
import type { Bench } from '../bench.ts'

/** A check to be run on a submission: the task's own, or that of a task whose accepted work it must not break. */
export interface DueCheck {
  id: string
  spec: CheckSpec
  /** The snapshot that protected files are restored from: the one before the work that the check was written for. */
  base: string
  /** The accepted task that it is of, and the snapshot that was accepted. */
  of?: string
  accepted?: string
  /** Work that the owner took although checks of it fail: what it changed of the check's own files counts from there on. */
  taken?: readonly Pick<Content, 'snapshot' | 'paths'>[]
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
  const others: TaskState[] = []
  for (const row of rows.map((one) => one.row as TaskRow)) {
    if (row.id === spec.id || row.status !== 'done') continue
    const { state: other } = await tasks.load(row.id)
    if (other?.status === 'done' && parts.workspaces.lineage(other.spec)?.key === lineage.key) others.push(other)
  }
  const taken = others.filter((other) => !provedByChecks(other)).flatMap((other) => acceptedContent(other) ?? [])
  return others.filter(provedByChecks).flatMap((other) => checksOf(other, taken))
}

function checksOf(other: TaskState, taken: readonly Content[]): DueCheck[] {
  const accepted = acceptedContent(other)
  if (accepted === undefined) return []
  const { base, snapshot } = accepted
  const of = other.spec.id
  return other.spec.checks.flatMap((check, index) =>
    looksAtFiles(check) ? [{ id: `regression:${of}:${checkId(check, index)}`, spec: check, base, of, accepted: snapshot, taken }] : [],
  )
}

function acceptedContent({ contents, done }: TaskState): Content | undefined {
  return contents[done?.content ?? '']
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
