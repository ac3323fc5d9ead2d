import { z } from 'zod'

/** Every way a command can be refused. Closed: a door can translate each, and a new one is added here or nowhere. */
export const RefusalCode = z.enum([
  'already_exists',
  'not_found',
  'wrong_status',
  'stale_attempt',
  'stale_submission',
  'stale_review',
  'stale_seat',
  'attempts_used_up',
  'not_assignee',
  'self_review',
  'not_on_panel',
  'inputs_incomplete',
  'policy_changed',
  'bad_answer',
  'reason_required',
  'bad_command',
  'key_reused',
])
export type RefusalCode = z.infer<typeof RefusalCode>

export interface Refusal {
  code: RefusalCode
  /** What was wrong, where, and what to do instead. */
  message: string
}

/** An expected failure is a value; only bugs throw. */
export type Result<T, E = Refusal> = { ok: true; value: T } | { ok: false; error: E }
