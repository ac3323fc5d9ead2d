import { durationMs } from '../../contract/config/duration.ts'
import type { Result } from '../../contract/errors.ts'
import type { OperatorAnswer } from '../../contract/events/task.ts'
import { answerBypass, type DeliverableState, grantBypass } from '../../core/gate/deliverable.ts'
import type { EngineParts } from '../parts.ts'
import { handleDeliverable } from './store.ts'

/** The owner waives the review of a deliverable's latest version, of exactly those bytes and for a time. The door has checked the authority. */
export async function bypassReview(
  parts: EngineParts,
  deliverable: string,
  { by, reason, digest }: { by: string; reason: string; digest?: string },
): Promise<Result<DeliverableState>> {
  const order = { by, reason, digest, until: untilOf(parts), byAgent: false }
  const handled = await handleDeliverable(parts, deliverable, by, (state) => grantBypass(state, order))
  return handled.ok ? { ok: true, value: handled.value.state } : handled
}

/** The owner's answer to an agent that wants out of its review. */
export async function answerBypassRequest(
  parts: EngineParts,
  deliverable: string,
  answered: { request: string; answer: OperatorAnswer; by: string; reason: string },
): Promise<Result<string[]>> {
  const order = { ...answered, until: untilOf(parts), byAgent: false }
  const handled = await handleDeliverable(parts, deliverable, answered.by, (state) => answerBypass(state, order))
  return handled.ok ? { ok: true, value: handled.value.events.map(({ type }) => type) } : handled
}

function untilOf({ clock, config }: EngineParts): string {
  return new Date(clock.now() + durationMs(config.gate.bypassTtl)).toISOString()
}
