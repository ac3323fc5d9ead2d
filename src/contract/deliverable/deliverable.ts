import { z } from 'zod'
import { Subject } from '../review.ts'
import { Bar, Score } from '../score.ts'
import { TaskId } from '../task.ts'

export const DeliverableKind = z.enum(['text', 'file', 'folder', 'diff', 'url'])
export type DeliverableKind = z.infer<typeof DeliverableKind>

/** Names a deliverable for good: in streams, on cards and in commands. */
export const DeliverableId = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,199}$/u,
    'an id has letters, digits, `.`, `_`, `-` and `/`, and begins with a letter or digit; at most 200',
  )

/** One version of a deliverable: its bytes, kept, and what a verdict on them is bound to. */
export const Submission = z.strictObject({
  /** Counted per deliverable, from 1. */
  submission: z.int().positive(),
  kind: DeliverableKind,
  title: z.string(),
  producer: z.string(),
  /** The task that the decision is looked up in: a mission's own, or the review's. */
  task: TaskId,
  subject: Subject,
  /** Digest of the snapshot that is released: of a task's work, the part that is the deliverable. */
  snapshot: z.string(),
  /** Digest of those bytes alone: what a swap is told by. */
  digest: z.string(),
  /** Path or address it was taken from, or the change (`changeSource`), to tell whether it has changed since. */
  source: z.string().optional(),
  /** A verdict on it counts until then. */
  expires: z.string().optional(),
})
export type Submission = z.infer<typeof Submission>

/** How the work on a card stands. Never one word for two of them. */
export const CardFlag = z.enum(['pass', 'owner-accepted', 'below-threshold', 'unreviewed', 'bypassed'])
export type CardFlag = z.infer<typeof CardFlag>

export const CardType = z.enum(['report_ready', 'milestone', 'trace', 'operator_request', 'error_alert'])
export type CardType = z.infer<typeof CardType>

export const CardPriority = z.enum(['low', 'normal', 'high', 'urgent'])
export type CardPriority = z.infer<typeof CardPriority>

/** What `emit_owner_card` takes. Types that only the runtime may use are refused by the gate, with a reason. */
export const CardRequest = z.strictObject({
  type: CardType.describe('`report_ready` for a finished deliverable; `milestone` and `trace` carry none.'),
  title: z.string().trim().min(1).max(300),
  body: z.string().max(20_000).default(''),
  priority: CardPriority.default('normal'),
  metadata: z
    .strictObject({
      deliverableId: z.string().optional().describe('The deliverable that a `report_ready` card hands over.'),
      evaluatorBypass: z
        .boolean()
        .optional()
        .describe('Asks for release without a review. Refused and put to the owner, unless `gate.agentBypass`.'),
    })
    .prefault({}),
})
export type CardRequest = z.infer<typeof CardRequest>

/** What reaches the owner's Inbox. */
export const Card = z.strictObject({
  card: z.string(),
  type: CardType,
  /** Of a deliverable that an agent hands over, the title that its judges were shown. */
  title: z.string(),
  body: z.string(),
  priority: CardPriority,
  /** Who sent it: an agent, or `runtime`. */
  from: z.string(),
  deliverable: z.string().optional(),
  task: TaskId.optional(),
  flag: CardFlag.optional(),
  score: Score.optional(),
  bar: Bar.optional(),
  judges: z.array(z.string()),
  /** The reviewed snapshot and the digest of its bytes: what is handed over. */
  snapshot: z.string().optional(),
  digest: z.string().optional(),
  /** Of a reviewed change, its two commits. */
  commits: z.string().optional(),
  /** Whoever waived the review, and why. */
  bypass: z.strictObject({ by: z.string(), reason: z.string() }).optional(),
  /** The question that the card stands for. */
  request: z.string().optional(),
  note: z
    .strictObject({ by: z.string(), title: z.string(), body: z.string(), reviewed: z.literal(false) })
    .optional()
    .describe('What its sender said with a deliverable. Nobody reviewed it, however the deliverable stands.'),
})
export type Card = z.infer<typeof Card>

/** Every way the gate can refuse a card. Closed; each comes with what to do next. */
export const GateRefusal = z.enum([
  'type_reserved',
  'cannot_carry_deliverable',
  'deliverable_missing',
  'deliverable_unknown',
  'under_review',
  'no_verdict',
  'needs_revision',
  'failed',
  'not_clean',
  'veto_stands',
  'content_changed',
  'policy_changed',
  'policy_not_accepted',
  'upstream_changed',
  'verdict_expired',
  'bypass_refused',
  'already_sent',
])
export type GateRefusal = z.infer<typeof GateRefusal>

/** What a review has come to. PASS is the judges' word alone: what the owner accepted, whatever judges said or did not say, is called so. */
export const DeliverableVerdict = z.enum(['PASS', 'OWNER-ACCEPTED', 'NEEDS_REVISION', 'FAIL', 'PENDING'])
export type DeliverableVerdict = z.infer<typeof DeliverableVerdict>
