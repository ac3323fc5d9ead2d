import { z } from 'zod'
import { LedgerEntry } from '../../../contract/review.ts'
import { CaseTaken, InName, ReviewStanding, SubmitCase, Taken, TaskDetailItem, TaskItem } from '../../../contract/http/task.ts'
import { TaskStatus } from '../../../contract/task.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { refusedBy } from '../answer/problem.ts'
import type { Door } from '../door.ts'
import { listOf, Paging, scanPage } from '../page.ts'
import { route } from '../route.ts'
import { inName, ownTask } from './own.ts'
import { untilDecided, Waiting } from './waiting.ts'

const params = z.object({ task: z.string().min(1).max(200).describe('Id of the task; its `/` written `%2F`.') })

/** Tasks in the order of their ids. */
export function taskPage(
  door: Door,
  prefix: string,
  wanted: (row: TaskRow) => boolean,
  query: { limit: number; cursor?: string | undefined },
) {
  const { journal } = door.engine.parts
  const read = async (afterKey: string | undefined, limit: number) =>
    (await journal.viewRows('tasks', { prefix, limit, ...(afterKey !== undefined && { afterKey }) })) as { key: string; row: TaskRow }[]
  return scanPage(read, wanted, query)
}

const looking = [
  route({
    method: 'get',
    path: '/v1/tasks',
    scope: 'worker',
    tag: 'tasks',
    summary: 'Tasks, in the order of their ids. A worker sees its own.',
    query: z.object({
      ...Paging,
      mission: z.string().optional().describe('Of one run.'),
      status: TaskStatus.optional(),
      assignee: z.string().optional(),
    }),
    reply: listOf(TaskItem),
    handle: async ({ door, who, query }) => {
      const { mission, status } = query
      const assignee = who.scope === 'worker' ? who.name : query.assignee
      // What is brought to be reviewed is nobody's to take: a worker finds it by its deliverable.
      const wanted = (row: TaskRow) =>
        (who.scope !== 'worker' || !row.outside) &&
        (status === undefined || row.status === status) &&
        (assignee === undefined || row.assignee === assignee)
      return { body: await taskPage(door, mission === undefined ? '' : `${mission}/`, wanted, query) }
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{task}',
    scope: 'worker',
    tag: 'tasks',
    summary: 'One task: state, criteria, case, ledger, what judges said.',
    params,
    reply: z.strictObject({ task: TaskItem, detail: TaskDetailItem }),
    handle: async ({ door, who, params: { task } }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      const detail = await door.engine.detail(task)
      if (!detail) throw new Error(`${task} is gone`)
      return { body: { task: found.row, detail } }
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{task}/ledger',
    scope: 'worker',
    tag: 'tasks',
    summary: 'The decision history of a task, as both sides see it.',
    params,
    reply: z.strictObject({ task: z.string(), entries: z.array(LedgerEntry) }),
    handle: async ({ door, who, params: { task } }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      return { body: { task, entries: (await door.engine.detail(task))?.ledger ?? [] } }
    },
  }),
]

const working = [
  route({
    method: 'post',
    path: '/v1/tasks/{task}/take',
    scope: 'worker',
    tag: 'outside work',
    summary: 'Take a task of an agent that Assay does not start; taking it again goes on with it.',
    params,
    body: InName,
    reply: Taken,
    handle: async ({ door, who, params: { task }, body }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      const taken = await door.engine.outside.take(task, inName(who, body.worker) ?? found.row.assignee)
      return taken.ok ? { body: taken.value } : refusedBy(taken.error)
    },
  }),
  route({
    method: 'post',
    path: '/v1/tasks/{task}/heartbeat',
    scope: 'worker',
    tag: 'outside work',
    summary: 'Still at it. Without a word for `limits.outsideLease` the attempt is lost.',
    params,
    body: InName,
    reply: z.strictObject({ attempt: z.int() }),
    handle: async ({ door, who, params: { task }, body }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      const beat = await door.engine.outside.beat(task, inName(who, body.worker) ?? found.row.assignee)
      return beat.ok ? { body: beat.value } : refusedBy(beat.error)
    },
  }),
  route({
    method: 'post',
    path: '/v1/tasks/{task}/case',
    scope: 'worker',
    tag: 'outside work',
    summary: 'Submit the case for the work in the workspace; problems with it come back at once.',
    params,
    body: SubmitCase,
    reply: CaseTaken,
    handle: async ({ door, who, params: { task }, body }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      const submitted = await door.engine.outside.submit({
        task,
        worker: inName(who, body.worker) ?? found.row.assignee,
        attempt: body.attempt,
        raw: typeof body.case === 'string' ? body.case : JSON.stringify(body.case),
        ...(body.output !== undefined && { output: body.output }),
      })
      return submitted.ok ? { body: submitted.value } : refusedBy(submitted.error)
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{task}/review',
    scope: 'worker',
    tag: 'outside work',
    summary: 'Where the review stands, and what to do next.',
    params,
    query: Waiting,
    reply: ReviewStanding,
    handle: async ({ door, who, params: { task }, query: { wait } }) => {
      const found = await ownTask(door, who, task)
      if ('refused' in found) return found
      const review = await untilDecided(door, () => door.engine.outside.review(task), wait)
      return review.ok ? { body: review.value } : refusedBy(review.error)
    },
  }),
]

export const taskRoutes = [...looking, ...working]
