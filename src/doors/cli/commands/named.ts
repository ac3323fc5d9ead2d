import type { DeliverableRow } from '../../../engine/views/inbox.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'

/** What somebody named: a task, or a deliverable by its id and the task that its latest version is judged in. */
export type Named = { ok: true; task: string; deliverable?: string } | { ok: false; problem: string }

type NamedTask = Pick<TaskRow, 'id' | 'title' | 'outside'>
type NamedDeliverable = Pick<DeliverableRow, 'deliverable' | 'task'>

/** A task that Assay made to review a deliverable: people name the deliverable, or the whole id of the task. */
const isReviewOf = ({ id, outside }: NamedTask): boolean => outside === true && /^deliverable-[^/]*\/subject$/.test(id)

/**
 * A task goes by its id, by the end of it where only one ends so, or by its title; a deliverable by its whole id. Where that fits a task and a
 * deliverable that is judged elsewhere, nobody guesses: `task:<name>` and `deliverable:<name>` say which.
 */
export function findNamed(wanted: string, tasks: readonly NamedTask[], deliverables: readonly NamedDeliverable[]): Named {
  const [, form, rest] = /^(task|deliverable):(.+)$/s.exec(wanted) ?? []
  const name = rest ?? wanted
  const fitting = form === 'deliverable' ? [] : fittingTasks(name, tasks)
  const brought = form === 'task' ? undefined : deliverables.find(({ deliverable }) => deliverable === name)
  if (brought && fitting.some(({ id }) => id !== brought.task)) {
    const ways = [...fitting.map(({ id }) => `task:${id}`), `deliverable:${name}`]
    return { ok: false, problem: `${name} is the name of a task and of a deliverable: say ${ways.join(' or ')}` }
  }
  const [only] = fitting
  if (only && fitting.length === 1) return { ok: true, task: only.id }
  if (brought && tasks.some(({ id }) => id === brought.task)) return { ok: true, task: brought.task, deliverable: name }
  if (fitting.length > 1) return { ok: false, problem: `${name} could be ${fitting.map(({ id }) => id).join(' or ')}` }
  const what = form ?? 'task or deliverable'
  return { ok: false, problem: `there is no ${what} ${name}; assay task list and assay deliverable list show what there is` }
}

function fittingTasks(name: string, tasks: readonly NamedTask[]): readonly NamedTask[] {
  const exact = tasks.find(({ id }) => id === name)
  if (exact) return [exact]
  return tasks.filter((task) => !isReviewOf(task) && (task.id.endsWith(`/${name}`) || task.title === name))
}
