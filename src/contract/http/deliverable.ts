import { z } from 'zod'
import { Card, CardRequest, DeliverableId, DeliverableVerdict } from '../deliverable/deliverable.ts'
import { OperatorAnswer } from '../events/task.ts'
import { CriterionEntry } from '../mission/mission.ts'
import { Score } from '../score.ts'
import { InName, TaskDetailItem } from './task.ts'

/** Work that comes with the request: a text, or files. No path or address of the server's own: what is judged is what was sent. */
const Brought = {
  text: z.string().min(1).optional().describe('The work, where it is one text; or `files`.'),
  files: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(1000),
        text: z.string().optional(),
        base64: z.base64().optional().describe('Bytes, where it is no text.'),
      }),
    )
    .min(1)
    .max(2000)
    .optional(),
}

export const SubmitDeliverable = InName.extend({
  title: z.string().trim().min(1).max(300),
  description: z.string().max(20_000).optional().describe('What it is for, as judges read it.'),
  criteria: z.array(z.string().trim().min(1).max(4000)).max(100).optional().describe('Added to those of the policy.'),
  ...Brought,
})

export const ReviewWork = z.strictObject({
  title: z.string().trim().min(1).max(300).default('text'),
  task: z.string().max(20_000).optional().describe('What the work was meant to be.'),
  author: z.string().min(1).max(200).optional().describe('Agent that made it, which then does not judge it.'),
  criteria: z.array(CriterionEntry).max(500).default([]),
  ...Brought,
})

/** What a one-shot review came to. Only `clean` is a pass. */
export const ReviewResult = z.strictObject({
  review: z.string(),
  state: z.enum(['reviewing', 'ended']),
  result: z.enum(['clean', 'below-threshold', 'unreviewed', 'inconclusive']).optional(),
  passed: z.boolean().optional(),
  concern: z.string().optional(),
  task: TaskDetailItem.optional(),
})

export const DeliverableItem = z.strictObject({
  deliverable: z.string(),
  kind: z.string(),
  title: z.string(),
  producer: z.string(),
  task: z.string(),
  digest: z.string(),
  submission: z.int(),
  at: z.string(),
  request: z.string().optional(),
})

export const DeliverableStanding = z.strictObject({
  deliverable: DeliverableId,
  verdict: DeliverableVerdict,
  digest: z.string(),
  task: z.string(),
  attempt: z.int(),
  allowed: z.int(),
  score: Score.optional(),
  bar: z.number(),
  judges: z.array(z.string()),
  feedback: z.string(),
})

export const DeliverableDetail = z.strictObject({
  deliverable: DeliverableItem.optional(),
  review: DeliverableStanding.optional(),
  state: z.enum(['reviewing', 'standing']).describe('`reviewing`: this server is at it; ask again.'),
})

export const SendCard = z.strictObject({ ...InName.shape, ...CardRequest.shape })
export const CardSent = z.strictObject({ card: Card, bypass: z.boolean(), verdict: DeliverableVerdict.optional() })

/** A card in the Inbox. */
export const InboxItem = Card.extend({
  state: z.enum(['pending', 'handled', 'dismissed', 'expired']),
  at: z.string(),
  about: z.string().optional(),
  closed: z.strictObject({ at: z.string(), by: z.string(), reason: z.string() }).optional(),
})

export const InboxDetail = z.strictObject({
  card: InboxItem,
  files: z.array(z.strictObject({ path: z.string(), size: z.int(), digest: z.string() })).describe('The reviewed bytes, file by file.'),
})

export const RequestItem = z.strictObject({
  request: z.string(),
  about: z.enum(['task', 'gate', 'deliverable']),
  subject: z.string(),
  title: z.string(),
  detail: z.string(),
  answers: z.array(OperatorAnswer),
})

export const AnswerRequest = z.strictObject({ answer: OperatorAnswer, reason: z.string().max(4000).default('') })
export const Answered = z.strictObject({ request: z.string(), answer: OperatorAnswer, by: z.string(), events: z.array(z.string()) })
export const Overrule = z.strictObject({ outcome: z.enum(['pass', 'fail']), reason: z.string().trim().min(1).max(4000) })
export const Overruled = z.strictObject({ task: z.string(), outcome: z.enum(['pass', 'fail']), by: z.string() })
export const Bypassed = z.strictObject({ deliverable: z.string(), digest: z.string(), until: z.string(), by: z.string() })
