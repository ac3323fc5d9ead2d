import type { Result } from '../../contract/errors.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import { underPolicy } from '../../core/policy/adopt.ts'
import { deliverableOf } from '../deliverables/cards/taken-back.ts'
import { isJudgedAgain } from '../deliverables/hand-over.ts'
import { sentCards } from '../deliverables/inbox.ts'
import { loadDeliverable } from '../deliverables/store.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { missionStream } from '../streams.ts'
import { asNew, type TaskStore } from '../task/task-store.ts'
import type { TaskRow } from '../views/tasks.ts'

/**
 * The policy in force now takes over a run, on the owner's word; the door has checked the authority. Tasks that are done keep their flag; whatever
 * is decided later is decided under it. Tasks go first: a crash in between leaves the run refused, and accepting again finishes it.
 */
export async function acceptPolicy(parts: EngineParts, tasks: TaskStore, mission: string, by: string): Promise<Result<number>> {
  const { journal, rules, random, clock } = parts
  const stream = missionStream(mission)
  const events = await journal.readStream(stream)
  const recorded = events.findLast((event) => event.type === 'policy.recorded')?.data as EventData<'policy.recorded'> | undefined
  if (!recorded) return { ok: false, error: { code: 'not_found', message: `there is no mission ${mission}` } }
  const { leased } = await journal.workCount([mission])
  if (leased > 0)
    return {
      ok: false,
      error: { code: 'wrong_status', message: `another process is at work on ${mission}: stop it first, then accept the policy` },
    }
  const impossible = await withoutAgent(parts, tasks, mission)
  if (impossible !== undefined) return { ok: false, error: { code: 'policy_changed', message: impossible } }
  let adopted = 0
  for (const { row } of await journal.viewRows('tasks', { prefix: `${mission}/` })) {
    const { id } = row as TaskRow
    const { state } = await tasks.load(id)
    if (!state || state.policy === rules.digest) continue
    const terms = underPolicy(state.spec, recorded.policy, rules.policy)
    const handled = await tasks.handle(id, { type: 'adopt_policy', nonce: random.nonce(), by, ...terms }, { actor: by })
    if (!handled.ok) return { ok: false, error: { code: 'policy_changed', message: `${id}: ${handled.error.message}` } }
    adopted += 1
  }
  await judgeUnreleased(parts, tasks, mission)
  if (recorded.digest === rules.digest) return { ok: true, value: adopted }
  const at = new Date(clock.now()).toISOString()
  const event = asNew({ type: 'policy.recorded', data: { digest: rules.digest, policy: rules.policy } })
  const streams = [{ stream, expected: await journal.head(stream), events: [event] }]
  const appended = await journal.append({ streams, meta: { at, actor: by }, enqueue: notificationsOf(streams, at, parts.config) })
  return appended.ok ? { ok: true, value: adopted } : acceptPolicy(parts, tasks, mission, by)
}

/** A policy takes over all of a run or nothing of it: whoever does a task must be in it. */
async function withoutAgent({ journal, rules }: EngineParts, tasks: TaskStore, mission: string): Promise<string | undefined> {
  for (const { row } of await journal.viewRows('tasks', { prefix: `${mission}/` })) {
    const { id, assignee, outside } = row as TaskRow
    if (outside || Object.hasOwn(rules.policy.agents, assignee)) continue
    if ((await tasks.load(id)).state?.policy !== rules.digest) return `${id}: the new policy has no agent ${assignee}, who does this task`
  }
  return undefined
}

/** Accepted work that was brought and has not reached the owner is judged again, uncharged, so that it can be released under the policy in force. */
async function judgeUnreleased(parts: EngineParts, tasks: TaskStore, mission: string): Promise<void> {
  for (const { row } of await parts.journal.viewRows('tasks', { prefix: `${mission}/` })) {
    const { id, status, flag, outside } = row as TaskRow
    if (status !== 'done' || flag !== 'clean' || outside) continue
    const { state } = await tasks.load(id)
    const deliverable = state && deliverableOf(state)
    const content = state?.done?.content
    if (!state || deliverable === undefined || !content) continue
    const brought = (await loadDeliverable(parts, deliverable)).state
    if (brought?.latest.task !== id || brought.latest.subject.content !== content || brought.freed) continue
    if (!(await isReleased(parts, deliverable, id))) await isJudgedAgain({ parts, tasks }, state, content)
  }
}

/** Its card was sent, and ended in no other way than that the owner dealt with it or left it for too long. */
async function isReleased(parts: EngineParts, deliverable: string, task: string): Promise<boolean> {
  const newest = (await sentCards(parts, deliverable)).find(({ row }) => row.task === task)
  return newest?.row.type === 'report_ready' && (newest.isOpen || newest.row.state !== 'expired')
}
