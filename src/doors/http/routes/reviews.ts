import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { expandChecks } from '../../../contract/check.ts'
import { ReviewResult, ReviewWork } from '../../../contract/http/deliverable.ts'
import { formatProblem } from '../../../contract/source/problem.ts'
import { beginDelegation, DelegateCall, DelegateResult, delegationStanding } from '../../../engine/delegation/delegate.ts'
import { untilOver } from '../../../engine/wait.ts'
import { numberedCriteria } from '../../../engine/project.ts'
import { type OneShotEnd, reviewOnce } from '../../../engine/review/one-shot.ts'
import { refuse, refusedBy } from '../answer/problem.ts'
import type { Answer } from '../answer/reply.ts'
import type { Who } from '../authority/who.ts'
import type { Door } from '../door.ts'
import { type Job, waitFor } from '../jobs.ts'
import { route } from '../route.ts'
import { storeSent } from './brought.ts'
import { inName, requestName, ownTask } from './own.ts'
import { Waiting } from './waiting.ts'

const id = (what: string) => z.object({ id: z.string().max(100).describe(`Handle that the ${what} was answered with.`) })
const tooMany = () => refuse('busy', 'too many are under way; try again when one has ended')

const reviews = [
  route({
    method: 'post',
    path: '/v1/reviews',
    scope: 'owner',
    tag: 'reviews',
    summary: 'Review a text or files once, against criteria. Answers with a handle, or with the result where `wait` is long enough.',
    query: Waiting,
    body: ReviewWork,
    reply: ReviewResult,
    status: [200, 202],
    handle: async ({ door, who, body, query: { wait } }) => {
      const criteria = numberedCriteria(body.criteria)
      if (!criteria.ok) return refuse('invalid_request', criteria.error.map(formatProblem).join('; '))
      const { engine } = door
      const stored = await storeSent(engine.parts.snapshots, body)
      if ('refused' in stored) return stored
      const { config } = engine.parts
      const job = door.reviews.start(`rv-${randomUUID()}`, who, () =>
        reviewOnce(
          engine,
          { title: `Review of ${body.title}`, snapshot: stored.snapshot, base: stored.base },
          {
            id: 'review',
            description: body.task ?? `Judge this ${stored.kind} as it stands.`,
            criteria: criteria.value,
            checks: expandChecks(config.checks),
            dimensions: config.review.dimensions,
            bar: config.review.threshold,
            ...(body.author !== undefined && { author: body.author }),
          },
          door.stop,
        ),
      )
      if (!job) return tooMany()
      await waitFor(job, wait)
      return reviewAnswer(door, job)
    },
  }),
  route({
    method: 'get',
    path: '/v1/reviews/{id}',
    scope: 'owner',
    tag: 'reviews',
    summary: 'What a review came to.',
    params: id('review'),
    query: Waiting,
    reply: ReviewResult,
    status: [200, 202],
    handle: async ({ door, who, params, query: { wait } }) => {
      const job = door.reviews.find(params.id, who)
      if (!job) return refuse('not_found', `this server knows no review ${params.id}; what was decided stands in the audit`)
      await waitFor(job, wait)
      return reviewAnswer(door, job)
    },
  }),
]

async function reviewAnswer(door: Door, job: Job<OneShotEnd>): Promise<Answer<z.input<typeof ReviewResult>>> {
  if (job.error !== undefined) throw job.error
  const headers = { location: `/v1/reviews/${job.id}` }
  if (!job.value) return { status: 202, headers, body: { review: job.id, state: 'reviewing' } }
  const { state, task, stopped } = job.value
  if (stopped) return refuse('stopping', 'the server stopped before the review ended')
  const detail = await door.engine.detail(task)
  const decision = state.decided.at(-1)?.decision
  const result = resultOf(state.status, state.done?.flag, decision?.graded)
  const concern = decision?.concern ?? state.hold?.detail ?? state.ledger.at(-1)?.concern ?? ''
  return { headers, body: { review: job.id, state: 'ended', result, passed: result === 'clean', concern, ...(detail && { task: detail }) } }
}

/** Only a clean accept passes. What nobody could grade is inconclusive, never a pass and never a fail. */
function resultOf(status: string, flag: string | undefined, graded: boolean | undefined): z.infer<typeof ReviewResult>['result'] & string {
  if (status === 'done') return flag === 'clean' ? 'clean' : 'unreviewed'
  return status === 'failed' && graded !== false ? 'below-threshold' : 'inconclusive'
}

const Delegated = z.strictObject({
  delegation: z.string(),
  state: z.enum(['working', 'ended']),
  results: z.array(DelegateResult).optional(),
})

const delegations = [
  route({
    method: 'post',
    path: '/v1/delegations',
    scope: 'worker',
    tag: 'delegation',
    summary: 'Hand tasks down and have each judged. Answers with a handle, or with the results where `wait` is long enough.',
    query: Waiting,
    body: z.strictObject({
      call: DelegateCall,
      parent: z.string().max(200).optional().describe('The task that the caller works on: what it hands down is one deeper.'),
      worker: z.string().min(1).max(200).optional().describe('Who hands it down; with a worker’s token it is its own agent.'),
    }),
    reply: Delegated,
    status: [200, 202],
    handle: async ({ door, who, body, query: { wait }, key }) => {
      const { parent } = body
      const above = parent === undefined ? undefined : await ownTask(door, who, parent)
      if (above && 'refused' in above) return above
      const by = inName(who, body.worker) ?? who.name
      if (by === body.worker && !Object.hasOwn(door.engine.parts.config.agents, by))
        return refuse('invalid_request', `\`worker\`: ${by} is no agent of this organisation`)
      const begun = await beginDelegation(door.engine, body.call, {
        by,
        ...(parent !== undefined && { parent }),
        ...(key !== undefined && { key: requestName(by, key) }),
      })
      if (!begun.ok) return refusedBy(begun.error)
      return delegationAnswer(door, who, begun.value.mission, wait)
    },
  }),
  route({
    method: 'get',
    path: '/v1/delegations/{id}',
    scope: 'worker',
    tag: 'delegation',
    summary: 'What became of tasks that were handed down.',
    params: id('delegation'),
    query: Waiting,
    reply: Delegated,
    status: [200, 202],
    handle: ({ door, who, params, query: { wait } }) => delegationAnswer(door, who, params.id, wait),
  }),
]

async function delegationAnswer(door: Door, who: Who, delegation: string, wait: number): Promise<Answer<z.input<typeof Delegated>>> {
  const standing = await untilOver(
    door.engine,
    { seconds: wait, stop: door.stop },
    () => delegationStanding(door.engine, delegation),
    (now) => now === undefined || now.open === 0,
  )
  if (!standing || (who.scope === 'worker' && standing.by !== who.name))
    return refuse('not_found', `there is no delegation ${delegation} of yours`)
  const headers = { location: `/v1/delegations/${delegation}` }
  if (standing.open > 0) return { status: 202, headers, body: { delegation, state: 'working' } }
  return { headers, body: { delegation, state: 'ended', results: standing.results } }
}

export const reviewRoutes = [...reviews, ...delegations]
