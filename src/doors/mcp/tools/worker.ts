import { z } from 'zod'
import { Case } from '../../../contract/case.ts'
import { ReviewStanding, Taken, TaskDetailItem, TaskItem } from '../../../contract/http/task.ts'
import { LedgerEntry } from '../../../contract/review.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { answer, type Call, longestWait, reads, refuse, refusedBy, repeats, shown, tool, WaitSeconds, writes } from '../tool.ts'
import { untilOver } from '../waiting.ts'
import { deliverableStanding, DeliverableStanding } from './deliverable.ts'
import { noTask, ownTask } from './own.ts'

const Task = z.string().min(1).max(200).describe('Id of the task, as list_tasks shows it.')
const page = 500

const CaseAnswer = z.strictObject({
  status: z
    .enum(['invalid', 'reviewing', 'decided'])
    .describe('`invalid`: mend the case and submit again; `reviewing`: ask get_review; `decided`: see review.'),
  problems: z.array(z.string()).describe('What is wrong with the case itself.'),
  review: ReviewStanding.optional(),
})

async function listTasks({ session, engine, input }: Call<{ open: boolean; limit: number; after?: string | undefined }>) {
  const tasks: TaskRow[] = []
  let afterKey = input.after
  for (;;) {
    const rows = await engine.parts.journal.viewRows('tasks', { limit: page, ...(afterKey !== undefined && { afterKey }) })
    for (const { key, row } of rows) {
      afterKey = key
      const task = row as TaskRow
      // What is brought to be reviewed is nobody's to take; get_review tells of it.
      if (task.outside || task.assignee !== session.agent || (input.open && ended.has(task.status))) continue
      tasks.push(task)
      if (tasks.length === input.limit) return answer({ tasks, next: afterKey })
    }
    if (rows.length < page) return answer({ tasks })
  }
}

const ended = new Set<TaskRow['status']>(['done', 'failed', 'skipped'])

async function standing(call: Call<{ task: string; waitSeconds: number }>) {
  const { engine, session, stop, input } = call
  return untilOver(
    { engine, world: session.world, stop },
    input.waitSeconds,
    () => engine.outside.review(input.task),
    (review) => !review.ok || review.value.phase !== 'reviewing',
  )
}

async function submitCase(call: Call<{ task: string; attempt: number; output?: string | undefined }>) {
  const { session, engine, input } = call
  const { task, attempt, output, ...argued } = input
  if (!(await ownTask(engine, session, task))) return noTask(task)
  const raw = JSON.stringify(argued)
  const submitted = await engine.outside.submit({ task, worker: session.agent, attempt, raw, ...(output !== undefined && { output }) })
  if (!submitted.ok) return refusedBy(submitted.error)
  session.workOnTask(task)
  const { problems } = submitted.value
  const review = await standing({ ...call, input: { task, waitSeconds: problems.length > 0 ? 0 : longestWait } })
  if (!review.ok) return refusedBy(review.error)
  const status =
    problems.length > 0 ? ('invalid' as const) : review.value.phase === 'reviewing' ? ('reviewing' as const) : ('decided' as const)
  return answer({ status, problems, review: review.value })
}

const working = [
  tool({
    name: 'list_tasks',
    role: 'worker',
    title: 'List your tasks',
    description: 'Your tasks and where each stands, in the order of their ids.',
    input: z.strictObject({
      open: z.boolean().default(true).describe('Only those that have not ended.'),
      limit: z.int().min(1).max(200).default(50),
      after: z.string().optional().describe('`next` of the answer before.'),
    }),
    output: z.strictObject({ tasks: z.array(TaskItem), next: z.string().optional().describe('There are more after this one.') }),
    hints: reads,
    handle: listTasks,
  }),
  tool({
    name: 'take_task',
    role: 'worker',
    title: 'Take a task',
    description:
      'Starts your attempt at a task. Answers with everything you need to know, feedback on earlier attempts included, and the folder to work in. Taking your own open attempt again goes on with it. Without any call for the length of the lease the attempt is lost and counts.',
    input: z.strictObject({ task: Task }),
    output: Taken.extend({ lease: z.string().describe('Call something at least this often, e.g. heartbeat.') }),
    hints: repeats,
    handle: async ({ session, engine, input: { task } }) => {
      if (!(await ownTask(engine, session, task))) return noTask(task)
      const taken = await engine.outside.take(task, session.agent)
      if (!taken.ok) return refusedBy(taken.error)
      session.took(task)
      session.workOnTask(task)
      return answer({ ...taken.value, lease: engine.parts.config.limits.outsideLease })
    },
  }),
  tool({
    name: 'heartbeat',
    role: 'worker',
    title: 'Still at work',
    description: 'Shows that you are still at work on a task that you took. Every other call of yours shows it, too.',
    input: z.strictObject({ task: Task }),
    output: z.strictObject({ attempt: z.int() }),
    hints: repeats,
    handle: async ({ session, engine, input: { task } }) => {
      if (!(await ownTask(engine, session, task))) return noTask(task)
      const beat = await engine.outside.beat(task, session.agent)
      if (!beat.ok) return refusedBy(beat.error)
      session.took(task)
      return answer(beat.value)
    },
  }),
  tool({
    name: 'get_task',
    role: 'worker',
    title: 'Look at a task',
    description: 'One task of yours in full: criteria, case, what judges said, attempts used and allowed.',
    input: z.strictObject({ task: Task }),
    output: z.strictObject({ task: TaskItem, detail: TaskDetailItem }),
    hints: reads,
    handle: async ({ session, engine, input: { task } }) => {
      const row = await ownTask(engine, session, task)
      const detail = row && (await engine.detail(task))
      return row && detail ? answer({ task: row, detail }) : noTask(task)
    },
  }),
]

const reviewing = [
  tool({
    name: 'submit_case',
    role: 'worker',
    title: 'Submit your case',
    description:
      'Says that the work is done, and argues for it: honestly, not persuasively. The work is taken as it lies in the folder. Checks run, then judges that are not you. Answers with the decision, or after 45 seconds with `reviewing`: then ask get_review. On a rejection take the task again and mend every point.',
    input: z
      .looseObject({
        task: Task,
        attempt: z.int().positive().describe('The attempt that take_task answered with.'),
        output: z.string().optional().describe('What you wrote or printed, where that is the work.'),
        ...Object.fromEntries(Object.entries(Case.shape).map(([name, schema]) => [name, shown(schema)])),
      })
      .meta({ required: ['task', 'attempt', 'summary', 'ac_coverage'] }),
    output: CaseAnswer,
    hints: writes,
    handle: submitCase,
  }),
  tool({
    name: 'get_review',
    role: 'worker',
    title: 'Hear of a review',
    description: 'Where the review of a task or of a deliverable stands, and what to do next. Waits for the decision as long as you say.',
    input: z.strictObject({
      task: Task.optional(),
      deliverable: z.string().min(1).max(200).optional().describe('Id of a deliverable, instead of a task.'),
      waitSeconds: WaitSeconds,
    }),
    output: z.strictObject({ task: ReviewStanding.optional(), deliverable: DeliverableStanding.optional() }),
    hints: reads,
    handle: async (call) => {
      const { task, deliverable, waitSeconds } = call.input
      if ((task === undefined) === (deliverable === undefined)) return refuse('bad_command', 'name either a task or a deliverable')
      if (deliverable !== undefined) {
        const found = await deliverableStanding(call, deliverable, waitSeconds)
        return found.ok ? answer({ deliverable: found.value }) : found
      }
      const wanted = task ?? ''
      if (!(await ownTask(call.engine, call.session, wanted))) return noTask(wanted)
      call.session.workOnTask(wanted)
      const review = await standing({ ...call, input: { task: wanted, waitSeconds } })
      return review.ok ? answer({ task: review.value }) : refusedBy(review.error)
    },
  }),
  tool({
    name: 'get_ledger',
    role: 'worker',
    title: 'Read the ledger',
    description: 'The decision history of a task of yours, as both sides see it.',
    input: z.strictObject({ task: Task }),
    output: z.strictObject({ task: z.string(), entries: z.array(LedgerEntry) }),
    hints: reads,
    handle: async ({ session, engine, input: { task } }) => {
      if (!(await ownTask(engine, session, task))) return noTask(task)
      return answer({ task, entries: (await engine.detail(task))?.ledger ?? [] })
    },
  }),
]

export const workerTools = [...working, ...reviewing]
