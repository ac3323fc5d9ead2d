import type { Result } from '../../contract/errors.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { Score } from '../../contract/score.ts'
import { thresholdOf } from '../../core/gate/threshold.ts'
import { withheldOf } from '../deliverables/withheld.ts'
import { notificationsOf } from '../notify/outbox.ts'
import { WorkKind } from '../../contract/work.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import type { EngineParts } from '../parts.ts'
import { gateStream, missionOf, missionStream, taskStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import type { GateRow } from '../views/gates.ts'
import type { MissionRow, TaskRow } from '../views/tasks.ts'
import { outcomeOf } from './outcome.ts'

/** Gates of these missions. */
export async function gateRows({ journal }: EngineParts, missions: readonly string[]): Promise<GateRow[]> {
  const found: GateRow[] = []
  for (const mission of missions) {
    const rows = await journal.viewRows('gates', { prefix: `gate/${mission}/` })
    found.push(...rows.map(({ row }) => row as GateRow))
  }
  return found
}

const ended = new Set(['done', 'failed', 'skipped'])

/** Tasks of a mission as they were at a position of the journal, or later. */
export interface TasksSeen {
  rows: readonly TaskRow[]
  position: number
}

/** Shared by all that only has to stand still: a mission may have 100,000 tasks. */
const nothing: StreamAppend['events'] = []

/** How often the end is looked at anew because something moved meanwhile; after that the next run does. */
const maxLooks = 25

/**
 * A mission whose tasks have all ended is finished, once; whoever comes second finds it so. Its quality threshold is looked at then. What is
 * written rests on every task and gate as it was seen: a run with a task that was opened meanwhile is not finished.
 */
export async function finishMission(parts: EngineParts, mission: string, seen?: TasksSeen): Promise<void> {
  let tasks = seen ?? (await tasksOf(parts, mission))
  for (let looks = 0; looks < maxLooks; looks += 1) {
    if ((await finishOn(parts, mission, tasks)) !== 'moved') return
    tasks = await tasksOf(parts, mission)
  }
}

/** Work by which a mission comes to its end: all but its notifications, for which no mission waits. */
export const missionWork: WorkKind[] = WorkKind.options.filter((kind) => kind !== 'notify')

/** A mission in which nothing is left to do is finished: whoever works on open missions waits for work that is due. */
export async function finishIdle(parts: EngineParts, mission: string): Promise<void> {
  const { due, leased, later } = await parts.journal.workCount([mission], missionWork)
  if (due + leased + later > 0) return
  await finishMission(parts, mission)
  await finishWaived(parts, mission)
}

/** A run that had failed for a gate which the owner has waived since, and for nothing else, is finished anew, as it stands without that. */
async function finishWaived(parts: EngineParts, mission: string): Promise<void> {
  const { journal, clock, config } = parts
  const stream = missionStream(mission)
  const expected = await journal.head(stream)
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  if (row?.finished === undefined || row.outcome !== 'failed' || row.threshold === 'failed') return
  const events = await endedAnew(parts, mission)
  if (events.length === 0) return
  const at = new Date(clock.now()).toISOString()
  const streams = [{ stream, expected, events: events.map(asNew) }]
  const appended = await journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, config) })
  if (!appended.ok) await finishWaived(parts, mission)
}

async function finishOn(parts: EngineParts, mission: string, { rows, position }: TasksSeen): Promise<'settled' | 'moved'> {
  const { journal, clock } = parts
  const own = rows.filter((row) => row.mission === mission)
  if (own.some((row) => !ended.has(row.status))) return 'settled'
  const gates = await gateRows(parts, [mission])
  const ending = await endingOf(parts, mission, { own, gates })
  if (!ending) return 'settled'
  const unmoved: StreamAppend[] = []
  for (const one of [...own.map(({ id }) => taskStream(id)), ...gates.map(({ name }) => gateStream(mission, name))])
    unmoved.push({ stream: one, expected: await journal.head(one), events: nothing })
  if (await hasMoved(parts, mission, position)) return 'moved'
  const at = new Date(clock.now()).toISOString()
  const enqueue = notificationsOf([ending], at, parts.config)
  const appended = await journal.append({ streams: [ending, ...unmoved], meta: { at, actor: 'runtime' }, enqueue })
  return appended.ok ? 'settled' : 'moved'
}

/** What is written of a mission whose tasks and gates have ended like this; undefined where its end stands in the journal. */
export async function endingOf(
  parts: EngineParts,
  mission: string,
  ended: Pick<Ended, 'own' | 'gates'>,
): Promise<StreamAppend | undefined> {
  const stream = missionStream(mission)
  const events = await parts.journal.readStream(stream)
  const last = events.findLast(({ type }) => type === 'mission.finished' || type === 'mission.reopened')
  if (last?.type === 'mission.finished') return undefined
  const started = events.find((event) => event.type === 'mission.started')?.data as EventData<'mission.started'> | undefined
  const fresh = await endOf(parts, mission, { ...ended, qualityThreshold: started?.qualityThreshold })
  return { stream, expected: events.length, events: fresh.map(asNew) }
}

interface Ended {
  own: readonly TaskRow[]
  gates: readonly GateRow[]
  qualityThreshold: EventData<'mission.started'>['qualityThreshold']
}

/** What is to be said at the end of a mission. */
async function endOf(parts: EngineParts, mission: string, { own, gates, qualityThreshold }: Ended): Promise<AssayEvent[]> {
  const { evaluate } = parts.rules.policy.review
  const looked = qualityThreshold === undefined || !evaluate ? undefined : thresholdOf(mission, qualityThreshold, own.map(weighed))
  const threshold = looked && ({ type: `quality.threshold.${looked.kind}`, data: looked.data } as AssayEvent)
  const missed = looked?.kind === 'failed' ? [mission] : []
  const { outcome, counts } = outcomeOf(own, evaluate, { gates, missed, withheld: await withheldOf(parts, own) })
  const detail = Object.entries(counts)
    .map(([label, count]) => `${count} ${label}`)
    .join(', ')
  const ended = lastEnd(own, gates, new Date(parts.clock.now()).toISOString())
  return [...(threshold ? [threshold] : []), { type: 'mission.finished', data: { mission, outcome, detail, ended } }]
}

/** How a finished run stands without its threshold, where it has not failed all the same. */
async function endedAnew(parts: EngineParts, mission: string): Promise<AssayEvent[]> {
  const { rows: own } = await tasksOf(parts, mission)
  const events = await endOf(parts, mission, { own, gates: await gateRows(parts, [mission]), qualityThreshold: undefined })
  return events.filter(({ type, data }) => type === 'mission.finished' && data.outcome !== 'failed')
}

/** When the last task ended, or the owner's last word on a gate came: that a mission is over counts from then, whoever notices it how much later. */
function lastEnd(own: readonly TaskRow[], gates: readonly GateRow[], now: string): string {
  let last = ''
  for (const { ended, updated } of own) last = later(last, ended ?? updated)
  for (const { answered = '' } of gates) last = later(last, answered)
  return last === '' ? now : last
}

const later = (one: string, other: string): string => (other > one ? other : one)

/** Rows and events that are looked through at a time. */
const page = 2000

/** Whether a task or a gate of the mission has moved after a position. */
async function hasMoved({ journal }: EngineParts, mission: string, position: number): Promise<boolean> {
  for (let from = position; ; ) {
    const events = await journal.read(from, page)
    if (events.some(({ stream }) => /^(task|gate)\//.test(stream) && missionOf(stream) === mission)) return true
    if (events.length < page) return false
    from = events.at(-1)?.position ?? from
  }
}

async function tasksOf({ journal }: EngineParts, mission: string): Promise<TasksSeen> {
  const position = await journal.position()
  const rows = await journal.viewRows('tasks', { prefix: `${mission}/` })
  return { rows: rows.map(({ row }) => row as TaskRow), position }
}

function weighed({ id, status, flag, score, priority }: TaskRow) {
  return { task: id, status, priority, ...(flag && { flag }), ...(score && { score: score as Score }) }
}

/** A task of a finished mission is open again: then the mission is, and it is finished anew later. */
export async function reopenMission(parts: EngineParts, mission: string, task: string): Promise<void> {
  const { journal, clock, config } = parts
  const stream = missionStream(mission)
  const expected = await journal.head(stream)
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  if (row?.finished === undefined) return
  const at = new Date(clock.now()).toISOString()
  const streams = [{ stream, expected, events: [asNew({ type: 'mission.reopened', data: { mission, task } })] }]
  const appended = await journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, config) })
  if (!appended.ok) await reopenMission(parts, mission, task)
}

/** A finished run that nothing is withheld of any more, whose end said otherwise, is finished anew as it stands now. */
export async function finishAnew(parts: EngineParts, mission: string, task: string): Promise<void> {
  const row = (await parts.journal.viewRow('missions', mission)) as MissionRow | undefined
  if (row?.finished === undefined || row.outcome !== 'inconclusive') return
  if ((await withheldOf(parts, (await tasksOf(parts, mission)).rows)).length > 0) return
  await reopenMission(parts, mission, task)
  await finishIdle(parts, mission)
}

/** The owner lets a missed threshold pass, with a reason that stays on record. A run that had failed for nothing else is finished anew, as it stands without that. */
export async function waiveThreshold(
  parts: EngineParts,
  mission: string,
  { by, reason }: { by: string; reason: string },
): Promise<Result<true>> {
  const { journal, clock } = parts
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  if (!row) return { ok: false, error: { code: 'not_found', message: `there is no mission ${mission}` } }
  if (reason.trim() === '') return { ok: false, error: { code: 'reason_required', message: 'a waived threshold needs a reason' } }
  if (row.threshold !== 'failed')
    return { ok: false, error: { code: 'wrong_status', message: `${mission} has missed no quality threshold` } }
  const stream = missionStream(mission)
  const expected = await journal.head(stream)
  const waived: AssayEvent = { type: 'threshold.waived', data: { missionId: mission, by, reason } }
  const anew = row.finished === undefined ? [] : await endedAnew(parts, mission)
  const streams = [{ stream, expected, events: [waived, ...anew].map(asNew) }]
  const at = new Date(clock.now()).toISOString()
  const appended = await journal.append({ streams, meta: { at, actor: by }, enqueue: notificationsOf(streams, at, parts.config) })
  return appended.ok ? { ok: true, value: true } : waiveThreshold(parts, mission, { by, reason })
}
