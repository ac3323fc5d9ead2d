import { z } from 'zod'
import { Card } from '../../../contract/deliverable/deliverable.ts'
import { OperatorAnswer } from '../../../contract/events/task.ts'
import type { Engine } from '../../../engine/engine.ts'
import { inboxCard, provenCards } from '../../../engine/deliverables/inbox.ts'
import { loadDeliverable } from '../../../engine/deliverables/store.ts'
import { whyWithdrawn } from '../../../engine/gates/withdrawn.ts'
import type { InboxRow } from '../../../engine/views/inbox.ts'
import { answer, type Answer, type Call, reads, refuse, refusedBy, tool, writes } from '../tool.ts'

const States = z.enum(['pending', 'handled', 'dismissed', 'expired'])

const InboxCard = Card.extend({
  state: States,
  at: z.string(),
  about: z.string().optional(),
  closed: z.strictObject({ at: z.string(), by: z.string(), reason: z.string() }).optional(),
})

const Question = z.strictObject({
  request: z.string(),
  about: z.enum(['task', 'gate', 'deliverable']),
  subject: z.string(),
  title: z.string(),
  detail: z.string(),
  answers: z.array(OperatorAnswer),
})

const Order = z.strictObject({
  action: z
    .enum(['handle', 'dismiss', 'answer', 'overrule', 'bypass'])
    .describe('`handle`, `dismiss` a card; `answer` a request; `overrule` a task or deliverable; `bypass` the review of a deliverable.'),
  card: z.string().min(1).max(300).optional(),
  request: z.string().min(1).max(400).optional(),
  answer: OperatorAnswer.optional(),
  task: z.string().min(1).max(200).optional(),
  deliverable: z.string().min(1).max(200).optional(),
  outcome: z.enum(['pass', 'fail']).optional(),
  reason: z.string().max(4000).default('').describe('Why; needed for overrule and bypass, and for most answers.'),
})
type Order = z.output<typeof Order>

const Decided = z.strictObject({ action: z.string(), by: z.string(), what: z.string().describe('What it came to.') })
type Decide = (call: Call<Order>, by: string) => Promise<Answer<string>>

async function closed({ engine, input }: Call<Order>, by: string): Promise<Answer<string>> {
  if (input.card === undefined) return refuse('bad_command', 'name the card')
  const state = input.action === 'handle' ? ('handled' as const) : ('dismissed' as const)
  const done = await engine.closeCard(input.card, { state, by, reason: input.reason })
  return done.ok ? answer(`${input.card} is ${state}`) : refusedBy(done.error)
}

const decisions: Record<Order['action'], Decide> = {
  handle: closed,
  dismiss: closed,
  answer: async ({ engine, session, input }, by) => {
    if (input.request === undefined || input.answer === undefined) return refuse('bad_command', 'name the request and the answer')
    const found = (await engine.requests()).find(({ request }) => request === input.request)
    if (!found) {
      const withdrawn = await whyWithdrawn(engine.parts.journal, input.request)
      return refuse('not_found', withdrawn ?? `there is no open request ${input.request}; list_inbox shows those that are`)
    }
    if (!found.answers.includes(input.answer))
      return refuse('bad_answer', `${input.answer} is no answer to ${found.request}; possible: ${found.answers.join(', ')}`)
    const done = await engine.answer({ request: found, answer: input.answer, by, reason: input.reason })
    if (!done.ok) return refusedBy(done.error)
    if (found.about !== 'deliverable') session.workOnTask(found.subject)
    return answer(`${found.request}: ${input.answer}`)
  },
  overrule: async ({ engine, session, input }, by) => {
    if (input.outcome === undefined || input.reason === '') return refuse('reason_required', 'an overrule needs an outcome and a reason')
    const task = await overruledTask(engine, input)
    if (task === undefined) return refuse('not_found', 'name a task or a deliverable that there is')
    const done = await engine.handle(task, { type: 'overrule_task', outcome: input.outcome, by, reason: input.reason }, by)
    if (!done.ok) return refuse(done.error.code, done.error.message)
    session.workOnTask(task)
    return answer(`${input.deliverable ?? task} is overruled to ${input.outcome}`)
  },
  bypass: async ({ engine, session, input }, by) => {
    if (input.deliverable === undefined || input.reason === '')
      return refuse('reason_required', 'a bypass needs a deliverable and a reason')
    const done = await engine.bypass(input.deliverable, { by, reason: input.reason })
    if (!done.ok) return refusedBy(done.error)
    const granted = done.value.bypasses.at(-1)
    session.world.log(`WARN: ${by} waived the review of ${input.deliverable}; its card stays marked UNREVIEWED`)
    return answer(
      `the review of ${input.deliverable} is waived for ${granted?.digest ?? 'its content'} until ${granted?.until ?? 'then'}; its card stays marked UNREVIEWED`,
    )
  },
}

async function overruledTask({ parts }: Engine, { task, deliverable }: Order): Promise<string | undefined> {
  if ((task === undefined) === (deliverable === undefined)) return undefined
  // By its events: what the owner turns is not for a row to say.
  if (deliverable !== undefined) return (await loadDeliverable(parts, deliverable)).state?.latest.task
  return (await parts.journal.viewRow('tasks', task ?? '')) === undefined ? undefined : task
}

async function listInbox({ engine, session, input }: Call<{ state: InboxRow['state']; limit: number }>) {
  const cards = (await engine.inbox()).filter(({ state }) => state === input.state)
  const requests = await engine.requests()
  const { rows, changed } = await provenCards(engine.parts, cards.slice(0, input.limit))
  if (changed.length > 0) session.world.log(`WARN: ${changed.length} stored rows of the inbox were changed by hand: assay audit verify`)
  return answer({
    cards: rows.filter(({ state }) => state === input.state),
    requests: requests.slice(0, input.limit),
    more: Math.max(0, cards.length - input.limit),
  })
}

export const ownerTools = [
  tool({
    name: 'list_inbox',
    role: 'owner',
    title: 'Look into the Inbox',
    description: 'Cards that the gate let through or the runtime sent, newest first; and open questions with the answers that each takes.',
    input: z.strictObject({ state: States.default('pending'), limit: z.int().min(1).max(200).default(50) }),
    output: z.strictObject({ cards: z.array(InboxCard), requests: z.array(Question), more: z.int().describe('Cards left out.') }),
    hints: reads,
    handle: listInbox,
  }),
  tool({
    name: 'show_card',
    role: 'owner',
    title: 'Look at one card',
    description: 'One card of the Inbox in full: how the work stands, score and bar, judges, digest of the reviewed bytes.',
    input: z.strictObject({ card: z.string().min(1).max(300) }),
    output: InboxCard,
    hints: reads,
    handle: async ({ engine, input: { card } }) => {
      const row = await inboxCard(engine.parts, card)
      return row ? answer(row) : refuse('not_found', `there is no card ${card}`)
    },
  }),
  tool({
    name: 'decide',
    role: 'owner',
    title: 'Decide as the owner',
    description:
      'The owner’s word: put a card away, answer a question, turn a decision, waive a review. Recorded with who gave it and why. Needs the owner’s token where this server runs.',
    input: Order,
    output: Decided,
    hints: { ...writes, destructiveHint: true },
    handle: async (call) => {
      const owner = await call.session.world.authority()
      if (!owner.ok) return refuse('not_owner', owner.error)
      const { by } = owner.value
      const done = await decisions[call.input.action](call, by)
      return done.ok ? answer({ action: call.input.action, by, what: done.value }) : done
    },
  }),
]
