import { digestOf } from '../../../contract/canonical.ts'
import type { Policy } from '../../../contract/policy.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import type { Panel, Seat } from '../../../core/panel/state.ts'
import { policyDigest } from '../../../core/policy/policy.ts'
import { rulesFor } from '../../../core/task/terms.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { RawReply } from '../../../contract/verdict.ts'
import type { VerdictRow } from '../../views/verdicts.ts'
import type { Bench } from '../bench.ts'

/** A verdict that somebody gave on exactly this question before. */
export interface Remembered {
  reply: RawReply
  from: { task: string; review: number }
}

/**
 * Identity of a question: everything a judge is told, whatever the nonce, who is asked, in which seat, under which policy; for a task with terms of its
 * own, under the policy as it is for that task, so that a setting which its terms replace makes no other question.
 * Undefined where an answer is not to be taken up again: scripts and commands may change behind their name, and a reprompt is about one reply.
 */
export function questionKey(
  bench: Bench,
  { state, panel, seat }: { state: TaskState; panel: Panel; seat: Seat },
  prompt: string,
): string | undefined {
  const { policy } = rulesFor(state.spec, bench.parts.rules)
  const { agents, brains } = policy
  const kind = brains[agents[seat.judge]?.brain ?? '']?.kind
  if ((kind !== 'model' && kind !== 'agent') || seat.because === 'reprompt') return undefined
  const { snapshot } = state.current?.content ?? {}
  const asked = prompt.replaceAll(panel.nonce, '')
  const under = state.spec.terms === undefined ? state.policy : policyDigest(withoutMoney(policy))
  return digestOf({ asked, snapshot: snapshot ?? null, principal: seat.principal, seat: seat.seat, policy: under, form: seat.form })
}

/** What asking may cost decides whether a judge is asked, never what it says. */
function withoutMoney({ review: { maxCost: _money, ...review }, ...policy }: Policy): Policy {
  return { ...policy, review }
}

/** Its answer, with the nonce of this review in the place of the one it was given with: the same words to the same question. */
export async function remember(bench: Bench, key: string | undefined, nonce: string): Promise<Remembered | undefined> {
  const row = key === undefined ? undefined : ((await bench.parts.journal.viewRow('verdicts', key)) as VerdictRow | undefined)
  if (!row) return undefined
  const [event] = await bench.parts.journal.readStream(row.stream, row.version - 1)
  if (event?.type !== 'verdict.recorded') return undefined
  const { sitting, raw, review } = event.data as EventData<'verdict.recorded'>
  const given = sitting.verdict?.nonce
  const body = given === undefined ? raw : raw.replaceAll(given, nonce)
  return { reply: { channel: 'text', body }, from: { task: row.stream.slice('task/'.length), review } }
}
