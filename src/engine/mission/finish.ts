import type { Result } from '../../contract/errors.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Score } from '../../contract/score.ts'
import { thresholdOf } from '../../core/gate/threshold.ts'
import { withheldOf } from '../deliverables/withheld.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { missionStream } from '../streams.ts'
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

/** A mission whose tasks have all ended is finished, once; whoever comes second finds it so. Its quality threshold is looked at then. */
export async function finishMission(parts: EngineParts, mission: string, rows: readonly TaskRow[]): Promise<void> {
  const own = rows.filter((row) => row.mission === mission)
  if (own.some((row) => !ended.has(row.status))) return
  const { journal, clock, rules } = parts
  const { evaluate } = rules.policy.review
  const stream = missionStream(mission)
  const events = await journal.readStream(stream)
  if (events.findLast((event) => event.type === 'mission.finished' || event.type === 'mission.reopened')?.type === 'mission.finished')
    return
  const started = events.find((event) => event.type === 'mission.started')?.data as EventData<'mission.started'> | undefined
  const { qualityThreshold } = started ?? {}
  const looked = qualityThreshold === undefined || !evaluate ? undefined : thresholdOf(mission, qualityThreshold, own.map(weighed))
  const threshold = looked && asNew({ type: `quality.threshold.${looked.kind}`, data: looked.data } as never)
  const missed = looked?.kind === 'failed'
  const above = { gates: await gateRows(parts, [mission]), missed: missed ? [mission] : [], withheld: await withheldOf(parts, own) }
  const { outcome, counts } = outcomeOf(own, evaluate, above)
  const detail = Object.entries(counts)
    .map(([label, count]) => `${count} ${label}`)
    .join(', ')
  const finished = asNew({ type: 'mission.finished', data: { mission, outcome, detail } })
  const streams = [{ stream, expected: events.length, events: [...(threshold ? [threshold] : []), finished] }]
  const at = new Date(clock.now()).toISOString()
  const appended = await journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, parts.config) })
  // What was opened before this was written could not open the run: it was open.
  const open = appended.ok ? await firstOpen(parts, mission) : undefined
  if (open !== undefined) await reopenMission(parts, mission, open)
}

/** Rows of tasks that are looked through at a time. */
const page = 2000

/** A task of the mission that has not ended. */
async function firstOpen({ journal }: EngineParts, mission: string): Promise<string | undefined> {
  let afterKey: string | undefined
  do {
    const rows = await journal.viewRows('tasks', { prefix: `${mission}/`, ...(afterKey && { afterKey }), limit: page })
    const open = rows.find(({ row }) => !ended.has((row as TaskRow).status))
    if (open) return open.key
    afterKey = rows.length === page ? rows.at(-1)?.key : undefined
  } while (afterKey)
  return undefined
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

/** The owner lets a missed threshold pass, with a reason that stays on record. */
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
  const event = asNew({ type: 'threshold.waived', data: { missionId: mission, by, reason } })
  const streams = [{ stream, expected: await journal.head(stream), events: [event] }]
  const at = new Date(clock.now()).toISOString()
  const appended = await journal.append({ streams, meta: { at, actor: by }, enqueue: notificationsOf(streams, at, parts.config) })
  return appended.ok ? { ok: true, value: true } : waiveThreshold(parts, mission, { by, reason })
}
