import { durationMs } from '../../contract/config/duration.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Lease } from '../../contract/work.ts'
import type { Panel, Seat } from '../../core/panel/state.ts'
import type { TaskState } from '../../core/task/state.ts'
import { taskStream } from '../streams.ts'
import { type Bench, settleRefused } from '../work/bench.ts'

/** A judge that Assay cannot ask: it comes and answers by itself. */
export function isOutsideJudge({ roster }: Panel, { judge }: Pick<Seat, 'judge'>): boolean {
  return roster.some((one) => one.judge === judge && one.outside === true)
}

export interface Asked {
  state: TaskState
  panel: Panel
  seat: Seat
}

/** When a seat was asked, and until when its answer is awaited (epoch milliseconds). */
export function sittingTime(
  { parts }: Bench,
  { panel, seat }: Asked,
  events: readonly StoredEvent[],
): { asked: string | undefined; until: number } {
  const asked = events.findLast((event) => {
    const data = event.data as EventData<'seat.asked'>
    return event.type === 'seat.asked' && data.review === panel.review && data.seat === seat.seat && data.round === seat.round
  })?.meta.at
  return { asked, until: Date.parse(asked ?? '') + durationMs(parts.config.limits.judgeSitting) }
}

/** Leaves the seat asked until its judge comes. One that does not come within the time of a sitting could not be reached. */
export async function awaitVerdict(bench: Bench, lease: Lease, asked: Asked): Promise<void> {
  const { journal, config, clock, random } = bench.parts
  const { state, panel, seat } = asked
  const task = state.spec.id
  const left = sittingTime(bench, asked, await journal.readStream(taskStream(task))).until - clock.now()
  if (left > 0) return void (await journal.release(lease, left))
  const detail = `${seat.judge} works outside and gave no verdict within ${config.limits.judgeSitting}`
  const place = { review: panel.review, seat: seat.seat, round: seat.round, judge: seat.judge, nonce: random.nonce() }
  const handled = await bench.tasks.handle(task, { type: 'record_unavailable', ...place, detail }, { actor: 'runtime', settles: lease })
  await settleRefused(bench, lease, handled)
}
