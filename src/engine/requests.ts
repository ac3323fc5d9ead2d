import type { OperatorAnswer } from '../contract/events/task.ts'
import type { Result } from '../contract/errors.ts'
import { waivedBefore } from '../core/gate/gate.ts'
import { answersNow } from '../core/task/requests.ts'
import { handleGate } from './gates/gates.ts'
import { loadGate, timesReopened } from './gates/open-again.ts'
import { whyWithdrawn } from './gates/withdrawn.ts'
import { retryable } from './gates/retryable.ts'
import { gateStream, missionStream } from './streams.ts'
import { asNew } from './task/task-store.ts'
import type { EngineParts } from './parts.ts'
import { answerBypassRequest } from './deliverables/bypass.ts'
import type { DeliverableRow } from './views/inbox.ts'
import type { GateRow } from './views/gates.ts'
import type { MissionRow, TaskRow } from './views/tasks.ts'
import type { TaskStore } from './task/task-store.ts'
import type { GateAnswer } from './work/house.ts'

/** A question that waits for a person. */
export interface RequestRow {
  request: string
  about: 'task' | 'gate' | 'deliverable'
  /** Id of the task or deliverable, or `mission/gate`. */
  subject: string
  title: string
  detail: string
  answers: OperatorAnswer[]
}

/** What these tasks ask. */
export async function taskRequests(tasks: TaskStore, rows: readonly TaskRow[]): Promise<RequestRow[]> {
  const found: RequestRow[] = []
  for (const { id, title, request, detail, concern } of rows) {
    if (request === undefined) continue
    const { state } = await tasks.load(id)
    if (!state) continue
    for (const open of state.requests)
      found.push({
        request: open.request,
        about: 'task',
        subject: id,
        title,
        detail: detail ?? concern ?? '',
        answers: answersNow(state, open),
      })
  }
  return found
}

/** What these gates ask. */
export function gateRequests(gates: readonly GateRow[]): RequestRow[] {
  return gates.flatMap(({ mission, name, request, reason, state }): RequestRow[] => {
    if (request === undefined) return []
    const detail = `${reason ?? ''}${waivedBefore(state)}`
    return [{ request, about: 'gate', subject: `${mission}/${name}`, title: name, detail, answers: ['retry', 'waive', 'stop'] }]
  })
}

/** Every open question, of tasks, gates and deliverables. */
export async function openRequests(parts: EngineParts, tasks: TaskStore): Promise<RequestRow[]> {
  const rowsOf = async <Row>(view: string) => (await parts.journal.viewRows(view)).map(({ row }) => row as Row)
  const found = [...(await taskRequests(tasks, await rowsOf<TaskRow>('tasks'))), ...gateRequests(await rowsOf<GateRow>('gates'))]
  for (const { row } of await parts.journal.viewRows('deliverables')) {
    const { deliverable, title, producer, request } = row as DeliverableRow
    if (request !== undefined)
      found.push({
        request,
        about: 'deliverable',
        subject: deliverable,
        title,
        detail: `${producer} asks to hand it over without a review`,
        answers: ['accept', 'fail'],
      })
  }
  return found
}

export interface Answer {
  request: RequestRow
  answer: OperatorAnswer
  by: string
  reason: string
}

/** The owner's answer, as events. A gate's retry opens its weak inputs again, with one more attempt each. */
export async function answerRequest(
  parts: EngineParts,
  tasks: TaskStore,
  { request, answer, by, reason }: Answer,
): Promise<Result<string[]>> {
  const actor = { actor: by }
  if (request.about === 'task') {
    const command = { type: 'answer_request', request: request.request, answer, by, reason, nonce: parts.random.nonce() } as const
    const handled = await tasks.handle(request.subject, command, actor)
    if (handled.ok) return { ok: true, value: handled.events.map((event) => event.type) }
    return { ok: false, error: { code: 'wrong_status', message: handled.error.message } }
  }
  if (request.about === 'deliverable') return answerBypassRequest(parts, request.subject, { request: request.request, answer, by, reason })
  if (answer !== 'retry' && answer !== 'waive' && answer !== 'stop')
    return {
      ok: false,
      error: { code: 'bad_answer', message: `${answer} is no answer to ${request.request}; possible: retry, waive, stop` },
    }
  const cut = request.subject.indexOf('/')
  const gate = { mission: request.subject.slice(0, cut), name: request.subject.slice(cut + 1) }
  return answerGate(parts, tasks, gate, { request: request.request, answer, by, reason })
}

/**
 * The answer, the reopened run and the work that carries it out are one transaction: whatever ends this process, the answer takes effect. Under
 * another policy than the run's nobody could carry it out, so it is refused; so is a retry of what can never begin, and the question stays.
 */
async function answerGate(
  parts: EngineParts,
  tasks: TaskStore,
  gate: { mission: string; name: string },
  { request, answer, by, reason }: { request: string; answer: 'retry' | 'waive' | 'stop'; by: string; reason: string },
): Promise<Result<string[]>> {
  const { journal, rules } = parts
  const { mission, name } = gate
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  if (row && row.policy !== rules.digest)
    return {
      ok: false,
      error: { code: 'policy_changed', message: `${mission} goes on under another policy: assay resume ${mission} says what changed` },
    }
  const weak = answer === 'retry' ? ((await loadGate(journal, mission, name)).state?.weak ?? []) : []
  const { shut } = await retryable(parts, tasks, weak)
  for (const [task, why] of shut) return { ok: false, error: { code: 'wrong_status', message: `${task} cannot be tried again: ${why}` } }
  const stream = missionStream(mission)
  const handled = await handleGate(parts, gate, { type: 'answer_gate', request, answer, by, reason }, by, async (events, version) => {
    const asked = events.flatMap((event) => (event.type === 'gate.retried' ? event.data.tasks : []))
    const { open: retried } = await retryable(parts, tasks, asked)
    const reopens = answer === 'retry' && row?.finished !== undefined
    const reopened = asNew({ type: 'mission.reopened', data: { mission, task: retried[0] ?? asked[0] ?? '' } })
    const seen: GateAnswer['seen'] = {}
    for (const task of retried) seen[task] = await timesReopened(journal, task)
    const payload: GateAnswer = { mission, gate: name, retried, seen, by, reason: reason || `the gate ${name} asks for more` }
    const key = `${gateStream(mission, name)}@${version + 1}:settle_gate`
    return {
      streams: reopens ? [{ stream, expected: await journal.head(stream), events: [reopened] }] : [],
      enqueue: [{ key, kind: 'settle_gate', scope: mission, priority: 1, payload }],
    }
  })
  if (handled.ok) return { ok: true, value: handled.value.events.map((event) => event.type) }
  const withdrawn = handled.error.code === 'not_found' ? await whyWithdrawn(journal, request) : undefined
  return withdrawn === undefined ? handled : { ok: false, error: { code: 'wrong_status', message: withdrawn } }
}
