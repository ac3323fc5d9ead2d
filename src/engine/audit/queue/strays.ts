import { canonicalJson } from '../../../contract/canonical.ts'
import type { BrokenLink } from '../../../contract/chain.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import { WorkKind } from '../../../contract/work.ts'
import type { Journal, QueuedWork } from '../../../ports/journal.ts'
import { gateStream, taskStream } from '../../streams.ts'
import type { GateAnswer } from '../../work/house.ts'
import { workCalledFor } from './batches.ts'
import { tellingProblem } from './telling.ts'

const maxBreaks = 1000

/**
 * Queued work that no event calls for, or that was called for otherwise: whoever put it there could have tasks worked on, judges asked and people told
 * things. Work is enqueued with its event, so events that are read after the queue have all of them. Changes nothing.
 */
export async function strayWork(journal: Journal): Promise<BrokenLink[]> {
  const found: BrokenLink[] = []
  for (const work of await journal.queued()) {
    if (found.length >= maxBreaks) break
    const problem = await problemOf(journal, work)
    if (problem !== undefined) found.push({ stream: `work ${work.key}`, version: 0, position: null, problem: `queued work: ${problem}` })
  }
  return found
}

const uncalled = 'no event calls for it'

async function problemOf(journal: Journal, work: QueuedWork): Promise<string | undefined> {
  const { key, kind } = work
  if (!WorkKind.safeParse(kind).success) return `there is no such work (${kind})`
  if (kind === 'notify') return tellingProblem(journal, work)
  if (kind === 'settle_gate') return gateProblem(journal, work)
  const [, task, version] = /^task\/(.+)@(\d{1,15}):[a-z_]+\d+$/s.exec(key) ?? []
  if (task === undefined) return lateProblem(journal, work)
  const events = await journal.readStream(taskStream(task))
  if (Number(version) < 1 || Number(version) > events.length) return uncalled
  const asked = canonicalJson(work)
  for (const { delayMs: _later, ...called } of workCalledFor(events, Number(version))) if (canonicalJson(called) === asked) return undefined
  return uncalled
}

/** Work of a task that came late: what it depends on is told of it. */
async function lateProblem(journal: Journal, work: QueuedWork): Promise<string | undefined> {
  const { task } = (work.payload ?? {}) as { task?: unknown }
  const end = `+${String(task)}`
  if (typeof task !== 'string' || !work.key.startsWith('task/') || !work.key.endsWith(end)) return uncalled
  const [created] = await journal.readStream(work.key.slice(0, -end.length))
  if (created?.type !== 'task.created') return uncalled
  const { spec } = created.data as EventData<'task.created'>
  const called = { key: work.key, kind: 'settle_dependents', scope: spec.mission ?? '', priority: 1, payload: { task } }
  return spec.dependsOn.includes(task) && canonicalJson(called) === canonicalJson(work) ? undefined : uncalled
}

/** What the owner answered to a gate: the tasks that it opens again are those that the answer names, or fewer. */
async function gateProblem(journal: Journal, { key, scope, priority, payload }: QueuedWork): Promise<string | undefined> {
  const { mission, gate, retried, seen, by } = (payload ?? {}) as GateAnswer
  const stream = gateStream(mission, gate)
  const [, version] = /@(\d{1,15}):settle_gate$/.exec(key) ?? []
  if (key !== `${stream}@${version}:settle_gate` || scope !== mission || priority !== 1) return uncalled
  const events = await journal.readStream(stream, Number(version) - 1)
  const [first] = events
  const answer = events.filter(({ meta }) => meta.at === first?.meta.at && meta.actor === first.meta.actor)
  const opened = answer.flatMap(({ type, data }) => (type === 'gate.retried' ? (data as EventData<'gate.retried'>).tasks : []))
  const isAsked = Array.isArray(retried) && retried.every((task) => opened.includes(task))
  const isSeen = Object.keys(seen ?? {}).every((task) => opened.includes(task))
  return first !== undefined && isAsked && isSeen && by === first.meta.actor ? undefined : uncalled
}
