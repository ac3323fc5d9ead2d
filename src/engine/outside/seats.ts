import type { Result } from '../../contract/errors.ts'
import type { RawReply } from '../../contract/verdict.ts'
import { verdictToolSchema } from '../../core/verdict/tool-schema.ts'
import type { SnapshotReader } from '../../ports/brain.ts'
import { judgePromptVersion } from '../prompts/judge.ts'
import { taskStream } from '../streams.ts'
import type { TaskRow } from '../views/tasks.ts'
import type { Bench } from '../work/bench.ts'
import { promptFor, reportsOf, resolutions, snapshotReader } from '../work/judging/ask.ts'
import { type Asked, isOutsideJudge, sittingTime } from './awaited.ts'

/** A seat that waits for the verdict of a judge outside. */
export interface AwaitedReview {
  /** Names this asking of this seat; a verdict for an earlier one comes too late. */
  review: string
  task: string
  title: string
  attempt: number
  /** Why the judge is asked: at the opening, or again. */
  because: string
  asked: string
  /** After that the seat counts as unavailable. */
  until: string
}

/** Everything that a judge outside needs to answer. */
export interface Brief {
  review: string
  /** The whole question; work that does not fit is named in it, and can be read. */
  prompt: string
  /** JSON Schema of the verdict, with this review's nonce, ids and names. */
  schema: Record<string, unknown>
}

export interface SubmittedVerdict {
  review: string
  judge: string
  /** The verdict as text: one JSON object. */
  raw: string
}

/** What came of a verdict. An unreadable one is recorded, and may be asked for once more. */
export type VerdictTaken =
  | { outcome: 'graded' | 'abstained' }
  | { outcome: 'unreadable'; problem: string /** The seat as it is asked again, if it is. */; again?: string }

const page = 1000

/** Every seat that waits for this judge, by task. */
export async function awaitedReviews(bench: Bench, judge: string): Promise<AwaitedReview[]> {
  const { journal } = bench.parts
  const found: AwaitedReview[] = []
  let afterKey: string | undefined
  do {
    const rows = await journal.viewRows('tasks', { limit: page, ...(afterKey !== undefined && { afterKey }) })
    for (const { key, row } of rows) {
      const { seats = [], status } = row as TaskRow
      if (status !== 'in_review' || !seats.some((one) => one.judge === judge && one.state === 'awaited')) continue
      const { state } = await bench.tasks.load(key)
      const asked = state?.panel?.seats.filter((seat) => seat.judge === judge && seat.status === 'asked') ?? []
      if (!state?.panel || asked.length === 0) continue
      const events = await journal.readStream(taskStream(key))
      for (const seat of asked) {
        const place: Asked = { state, panel: state.panel, seat }
        const { asked: at = '', until } = sittingTime(bench, place, events)
        const { title } = state.spec
        found.push({
          review: nameOf(place),
          task: key,
          title,
          attempt: state.panel.attempt,
          because: seat.because,
          asked: at,
          until: new Date(until).toISOString(),
        })
      }
    }
    afterKey = rows.length === page ? rows.at(-1)?.key : undefined
  } while (afterKey !== undefined)
  return found
}

export async function briefOf(bench: Bench, review: string, judge: string, promptBytes: number): Promise<Result<Brief>> {
  const found = await seatOf(bench, review, judge)
  if (!found.ok) return found
  const { state, panel } = found.value
  const prompt = await promptFor(bench, { ...found.value, reports: await reportsOf(bench, state) }, promptBytes)
  const { criteria, dimensions } = state.spec
  const schema = verdictToolSchema({ nonce: panel.nonce, criteria, dimensions, points: panel.points, form: 'structured' })
  return { ok: true, value: { review, prompt, schema } }
}

/** The snapshot under review, to look at and nothing else. */
export async function workUnderReview(
  bench: Bench,
  review: string,
  judge: string,
): Promise<Result<{ nonce: string; reader: SnapshotReader }>> {
  const found = await seatOf(bench, review, judge)
  if (!found.ok) return found
  const { state, panel } = found.value
  return { ok: true, value: { nonce: panel.nonce, reader: snapshotReader(bench, state.current?.content?.snapshot ?? '') } }
}

/** The judge's word, read and decided on as any judge's is. */
export async function submitVerdict(bench: Bench, { review: name, judge, raw }: SubmittedVerdict): Promise<Result<VerdictTaken>> {
  const found = await seatOf(bench, name, judge)
  if (!found.ok) return found
  const { state, panel, seat } = found.value
  const reply: RawReply = { channel: 'tool', body: raw }
  const handled = await bench.tasks.handle(
    state.spec.id,
    {
      type: 'record_reply',
      review: panel.review,
      seat: seat.seat,
      round: seat.round,
      judge,
      reply,
      prompt: judgePromptVersion,
      resolutions: await resolutions(bench, { ...found.value, reports: await reportsOf(bench, state) }, reply),
      nonce: bench.parts.random.nonce(),
    },
    { actor: judge },
  )
  if (!handled.ok) {
    const { code, message } = handled.error
    return { ok: false, error: { code: code === 'self_review' || code === 'policy_changed' ? code : 'stale_seat', message } }
  }
  for (const event of handled.events) {
    if (event.type === 'verdict.recorded') return { ok: true, value: { outcome: event.data.sitting.outcome } }
    if (event.type === 'task.eval.unparsed') {
      const next = handled.state.panel?.seats.find((one) => one.seat === seat.seat)
      const again = handled.state.panel && next?.status === 'asked' && next.judge === judge ? next : undefined
      const named = again && handled.state.panel && nameOf({ state, panel: handled.state.panel, seat: again })
      return { ok: true, value: { outcome: 'unreadable', problem: event.data.reason, ...(named && { again: named }) } }
    }
  }
  throw new Error(`a verdict on ${name} came to nothing`)
}

const nameOf = ({ state, panel, seat }: Asked): string => `${state.spec.id}@${panel.review}.${seat.seat}.${seat.round}`

/** The seat that a name means, if it still waits for this judge. What is another's does not exist for a judge. */
async function seatOf(bench: Bench, name: string, judge: string): Promise<Result<Asked>> {
  const [, task = '', review, seat, round] = /^(.+)@(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/s.exec(name) ?? []
  const { state } = task === '' ? { state: undefined } : await bench.tasks.load(task)
  const { panel } = state ?? {}
  const found = panel?.review === Number(review) ? panel.seats.find((one) => one.seat === Number(seat)) : undefined
  const awaited = found?.judge === judge && found.status === 'asked' && found.round === Number(round)
  if (!state || !panel || !found || !awaited || !isOutsideJudge(panel, found))
    return { ok: false, error: { code: 'stale_seat', message: `no review ${name} awaits a verdict of ${judge}` } }
  return { ok: true, value: { state, panel, seat: found } }
}
