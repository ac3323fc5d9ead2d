import { z } from 'zod'
import { Card, DeliverableVerdict, GateRefusal, Submission } from '../../deliverable/deliverable.ts'

const owner = { by: z.string(), reason: z.string() }
/** What every look of the gate at a card records. */
const looked = {
  card: z.string(),
  deliverable: z.string().optional(),
  by: z.string(),
  verdict: DeliverableVerdict.optional(),
  /** Whether a waived review let it through, or was asked for. */
  bypass: z.boolean(),
}

export const deliverableEvents = {
  'deliverable.submitted': z.strictObject({ deliverable: z.string(), ...Submission.shape }),
  /** The owner took the id away from whoever has it: whoever brings something under it next has it from then on. */
  'deliverable.freed': z.strictObject({ deliverable: z.string(), ...owner }),
  /** An agent asked to be let through without a review. */
  'bypass.requested': z.strictObject({ deliverable: z.string(), digest: z.string(), ...owner }),
  /** A person, or a policy that obeys agents, waived the review of exactly these bytes, until then. Durable before it takes effect. */
  'bypass.granted': z.strictObject({ deliverable: z.string(), digest: z.string(), until: z.string(), byAgent: z.boolean(), ...owner }),
  'release.allowed': z.strictObject(looked),
  'release.refused': z.strictObject({ ...looked, code: GateRefusal, message: z.string() }),
  'card.emitted': Card,
  'card.handled': z.strictObject({ card: z.string(), ...owner }),
  'card.dismissed': z.strictObject({ card: z.string(), ...owner }),
  'card.expired': z.strictObject({ card: z.string(), why: z.string() }),
}
