import { z } from 'zod'
import { Card, CardRequest, DeliverableId, DeliverableVerdict, GateRefusal } from '../../../contract/deliverable/deliverable.ts'
import { Bar, Score } from '../../../contract/score.ts'
import { deliverableReview, type DeliverableReview, reviewDeliverable } from '../../../engine/deliverables/review.ts'
import type { DeliverableRow } from '../../../engine/views/inbox.ts'
import { answer, type Answer, type Call, refuse, refusedBy, tool, WaitSeconds, writes } from '../tool.ts'
import { untilOver } from '../waiting.ts'

/** Most characters of a deliverable that is sent as text. */
const longestText = 2_000_000

export const DeliverableStanding = z.strictObject({
  deliverable: z.string(),
  status: z.enum(['reviewing', 'decided']).describe('`reviewing`: ask get_review with this deliverable.'),
  verdict: DeliverableVerdict,
  digest: z.string(),
  attempt: z.int().describe('Tries used.'),
  allowed: z.int().describe('Tries allowed.'),
  score: Score.optional(),
  bar: Bar,
  judges: z.array(z.string()),
  feedback: z.string().describe('What to mend, point by point; or what it waits for.'),
})

/** A deliverable of the agent that asks; undefined where there is none of that id at all. */
async function ownDeliverable({ engine, session }: Call<unknown>, id: string): Promise<Answer<DeliverableRow | undefined>> {
  const row = (await engine.parts.journal.viewRow('deliverables', id)) as DeliverableRow | undefined
  return row && row.producer !== session.agent ? refuse('not_found', `there is no deliverable ${id} of yours`) : answer(row)
}

/** Where a deliverable stands, after waiting for its review at most so long. */
export async function deliverableStanding(
  call: Call<unknown>,
  id: string,
  seconds: number,
): Promise<Answer<z.infer<typeof DeliverableStanding>>> {
  const { engine, session, stop } = call
  const own = await ownDeliverable(call, id)
  if (!own.ok) return own
  if (own.value) session.workOnTask(own.value.task)
  const isOpen = () => session.reviews.find(id)?.ended === undefined && session.reviews.find(id) !== undefined
  const review = await untilOver(
    { engine, world: session.world, stop },
    seconds,
    () => deliverableReview(engine, id),
    (found) => !isOpen() && found?.verdict !== 'PENDING',
  )
  const ended = session.reviews.find(id)?.ended
  if (ended?.ok === false) throw ended.error
  if (!review) return refuse('not_found', isOpen() ? `${id} is being taken; ask again` : `there is no deliverable ${id} of yours`)
  return answer(shownReview(review))
}

function shownReview({ task: _task, ...review }: DeliverableReview): z.infer<typeof DeliverableStanding> {
  return { ...review, status: review.verdict === 'PENDING' ? 'reviewing' : 'decided' }
}

const Brought = z.strictObject({
  deliverable: DeliverableId.describe('Names the deliverable for good; a revision keeps the id.'),
  title: z.string().trim().min(1).max(300).optional(),
  text: z.string().min(1).max(longestText).optional().describe('The deliverable itself.'),
  path: z.string().min(1).max(4096).optional().describe('A file or folder below the project’s folder, instead of text.'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(4096)
    .optional()
    .describe('A page, instead of text.'),
  description: z.string().max(20_000).optional().describe('What it is for, as judges read it.'),
  acceptance_criteria: z
    .array(z.string().trim().min(1).max(4000))
    .max(100)
    .optional()
    .describe('Added to those of the policy, never in their place. Named with the first version.'),
  waitSeconds: WaitSeconds,
})

async function bring(call: Call<z.output<typeof Brought>>): Promise<Answer<z.infer<typeof DeliverableStanding>>> {
  const { engine, session, input } = call
  const { deliverable, text, path, url, description, acceptance_criteria: criteria, waitSeconds } = input
  if ([text, path, url].filter((one) => one !== undefined).length !== 1)
    return refuse('bad_command', 'name exactly one of text, path and url')
  const own = await ownDeliverable(call, deliverable)
  if (!own.ok) return own
  const taken = await session.world.subject({ text, path, url })
  if (!taken.ok) return refuse('bad_command', taken.error)
  const brought = {
    ...taken.value,
    deliverable,
    title: input.title ?? own.value?.title ?? deliverable,
    producer: session.agent,
    ...(description !== undefined && { description }),
    ...(criteria !== undefined && { criteria }),
  }
  const job = session.reviews.start(deliverable, brought.digest, () => reviewDeliverable(engine, brought, session.world.stop))
  if (!job) return refuse('busy', `${deliverable} is under review with other content, or too much is: wait with get_review`)
  const standing = await deliverableStanding(call, deliverable, waitSeconds)
  return job.ended?.ok && !job.ended.value.ok ? refusedBy(job.ended.value.error) : standing
}

const CardAnswer = z.strictObject({
  released: z.boolean(),
  card: Card.optional(),
  code: z.enum([...GateRefusal.options, 'busy']).optional(),
  message: z.string().optional().describe('Why the gate refused it, and what to do next.'),
  verdict: DeliverableVerdict.optional(),
  reviewed: z
    .boolean()
    .optional()
    .describe('Judges passed what it hands over. Never so for its note, nor for a card that hands nothing over.'),
  unreviewed: z.boolean().optional().describe('A deliverable went out on a bypass and is marked so.'),
})

export const deliverableTools = [
  tool({
    name: 'review_deliverable_with_evaluator',
    role: 'worker',
    title: 'Have a deliverable reviewed',
    description:
      'Has a finished thing judged by others before it may go to the owner: PASS, NEEDS_REVISION with feedback, or FAIL after the last try. Answers with the verdict, or after a while with `reviewing`: then ask get_review. The verdict holds for exactly these bytes.',
    input: Brought,
    output: DeliverableStanding,
    hints: { ...writes, openWorldHint: true },
    handle: bring,
  }),
  tool({
    name: 'emit_owner_card',
    role: 'worker',
    title: 'Send a card to the owner',
    description:
      'Sends a card to the owner’s Inbox. `report_ready` hands over a deliverable and passes only with a PASS on exactly its present content; `milestone` and `trace` carry none. The owner sees a deliverable under its reviewed title; title and body given here are a note that nobody reviewed. A refusal says what to do next.',
    input: CardRequest,
    output: CardAnswer,
    hints: writes,
    handle: async ({ engine, session, input }) => {
      const { deliverableId } = input.metadata
      const sent = await engine.emitCard(input, { from: session.agent, digestOf: (source) => session.world.digestNow(source) })
      const known = sent.verdict !== undefined && { verdict: sent.verdict }
      if (!sent.ok) return answer({ released: false, code: sent.code, message: sent.message, ...known })
      if (sent.bypass) session.world.log(`WARN: ${deliverableId} is handed over UNREVIEWED: ${sent.card.bypass?.by} waived its review`)
      const bypassed = sent.card.deliverable !== undefined && { unreviewed: sent.bypass }
      return answer({ released: true, card: sent.card, reviewed: sent.card.flag === 'pass', ...bypassed, ...known })
    },
  }),
]
