import type { DeliverableVerdict } from '../../../contract/deliverable/deliverable.ts'
import type { AssayEvent } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { Criterion } from '../../../contract/task.ts'
import { type DeliverableReview, reviewDeliverable } from '../../../engine/deliverables/review.ts'
import type { Engine } from '../../../engine/engine.ts'
import { authorName } from '../../../engine/review/one-shot.ts'
import { taskStream } from '../../../engine/streams.ts'
import type { Subject } from '../app.ts'
import type { ReviewReport } from '../report/report.ts'
import { reportOf } from './report-of.ts'

export interface DeliverableOrder {
  deliverable: string
  producer?: string
  title?: string
  task?: string
  criteria: readonly Criterion[]
}

/** Has a version of a deliverable reviewed, and reports its last try as any review. */
export async function judgeDeliverable(
  engine: Engine,
  subject: Subject,
  { deliverable, producer, title, task, criteria }: DeliverableOrder,
  stop: AbortSignal,
): Promise<ReviewReport | 'stopped' | { refused: string }> {
  const began = performance.now()
  const known = (await engine.deliverables()).find((row) => row.deliverable === deliverable)
  const maker = producer ?? known?.producer ?? authorName
  const { kind, name, snapshot, base, digest, source } = subject
  const reviewed = await reviewDeliverable(
    engine,
    {
      ...{ deliverable, kind, snapshot, base, digest, producer: maker, title: title ?? known?.title ?? name },
      criteria: criteria.map(({ text }) => text),
      ...(source !== undefined && { source }),
      ...(task !== undefined && { description: task }),
    },
    stop,
  )
  if (!reviewed.ok) return { refused: reviewed.error.message }
  const review = reviewed.value
  if (stop.aborted && review.verdict === 'PENDING') return 'stopped'
  const state = await engine.task(review.task)
  if (!state) throw new Error(`${review.task} is gone`)
  const events = (await engine.parts.journal.readStream(taskStream(review.task))).map(readEvent)
  const unreviewed = state.done?.flag === 'unreviewed'
  const end = { task: review.task, state, events: lastTry(events), stopped: false }
  const report = reportOf(subject, end, true, performance.now() - began, unreviewed ? 'unreviewed' : results[review.verdict])
  const { verdict, attempt, allowed } = review
  const concern = report.concern === '' ? review.feedback : report.concern
  return { ...report, concern, deliverable: { id: deliverable, producer: maker, verdict, attempt, allowed, next: nextOf(review) } }
}

const results: Record<DeliverableVerdict, ReviewReport['result']> = {
  PASS: 'clean',
  'OWNER-ACCEPTED': 'owner-accepted',
  NEEDS_REVISION: 'below-threshold',
  FAIL: 'below-threshold',
  PENDING: 'inconclusive',
}

/** Earlier tries had judges and scores of their own. */
function lastTry(events: readonly AssayEvent[]): AssayEvent[] {
  return events.slice(
    Math.max(
      0,
      events.findLastIndex(({ type }) => type === 'attempt.started'),
    ),
  )
}

function nextOf({ verdict, deliverable }: DeliverableReview): string {
  if (verdict === 'PASS' || verdict === 'OWNER-ACCEPTED') return `assay deliverable send ${deliverable}`
  if (verdict === 'NEEDS_REVISION') return `mend it, then assay review … --deliverable ${deliverable}`
  if (verdict === 'FAIL') return `the owner decides: assay overrule ${deliverable} pass --reason <why>, or assay bypass`
  return `assay why ${deliverable}`
}
