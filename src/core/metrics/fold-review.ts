import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import { withCall } from './call-sum.ts'
import { type JudgeSums, noJudging, withAsk, withVerdict } from './judge-sums.ts'
import { withRecent } from './recent.ts'
import { define, ownOf, withNamed, withScore } from './score-sum.ts'
import { decidedLimit, type TaskSums, type Vote } from './task-sums.ts'

type Fold = (row: TaskSums, data: never, event: StoredEvent) => TaskSums

/** What reviews, their judges and the owner's overrules do to the task's row. */
export function foldReview(row: TaskSums, event: StoredEvent): TaskSums {
  const fold = folds[event.type]
  return fold ? fold(row, event.data as never, event) : row
}

const folds: Record<string, Fold> = {
  'review.opened': (row, { review, subject }: EventData<'review.opened'>, { meta }) => ({
    ...row,
    open: { review, since: meta.at, content: subject.content, votes: [] },
  }),
  'seat.asked': (row, data: EventData<'seat.asked'>) => ofJudge(row, data.judge, (sums) => withAsk(sums, data)),
  'verdict.recorded': (row, data: EventData<'verdict.recorded'>, { position }) => {
    const { judge, outcome, accepts } = data.sitting
    const counted = ofJudge(row, judge, (sums) => withVerdict(sums, data, { position, dimensions: row.rubric }))
    const { open } = row
    if (open?.review !== data.review || outcome !== 'graded') return counted
    return { ...counted, open: { ...open, votes: [...open.votes, { judge, accepts }] } }
  },
  'task.eval.unparsed': (row, { judge, usage }: EventData<'task.eval.unparsed'>) =>
    ofJudge(row, judge, (sums) => ({ ...sums, unreadable: sums.unreadable + 1, calls: withCall(sums.calls, usage) })),
  'judge.unavailable': (row, { judge, usage }: EventData<'judge.unavailable'>) =>
    ofJudge(row, judge, (sums) => ({ ...sums, unavailable: sums.unavailable + 1, calls: withCall(sums.calls, usage) })),
  'review.abandoned': (row) => closed(row),
  'review.decided': decided,
  'task.overruled': overruled,
}

export const reviewTypes = Object.keys(folds)

function decided(row: TaskSums, { review, decision }: EventData<'review.decided'>, { meta, position }: StoredEvent): TaskSums {
  const { open } = row
  const passes = decision.outcome === 'pass'
  const next: TaskSums = {
    ...closed(row),
    assessments: row.assessments + 1,
    passed: row.passed + (passes ? 1 : 0),
    ...(!passes && { firstPass: row.firstPass ?? false }),
  }
  if (decision.score) {
    next.scores = withScore(row.scores, decision.score.exact)
    next.recent = withRecent(row.recent, position, decision.score)
  }
  next.dimensions = decision.dimensions.reduce((all, { name, score }) => withNamed(all, name, score.exact), row.dimensions)
  if (open?.review !== review) return next
  next.reviewMs += elapsed(open.since, meta.at)
  if (!decision.graded) return next
  const { content, votes } = open
  next.decided = [...row.decided.filter((one) => one.content !== content), { content, votes }].slice(-decidedLimit)
  return votes.reduce(
    (counted, { judge, accepts }) =>
      ofJudge(counted, judge, (sums) => ({ ...sums, decided: sums.decided + 1, agreed: sums.agreed + (accepts === passes ? 1 : 0) })),
    next,
  )
}

/** The owner turned the decision on the work at hand: the verdicts that said otherwise were overruled, each counted once. */
function overruled(row: TaskSums, { outcome }: EventData<'task.overruled'>): TaskSums {
  const content = row.accepted ?? row.submitted
  const turned = (vote: Vote) => !vote.overruled && vote.accepts !== (outcome === 'pass')
  const at = row.decided.find((one) => one.content === content)
  if (!at) return row
  const votes = at.votes.map((vote) => (turned(vote) ? { ...vote, overruled: true as const } : vote))
  const next = { ...row, decided: row.decided.map((one) => (one === at ? { content: at.content, votes } : one)) }
  return at.votes
    .filter(turned)
    .reduce((counted, { judge }) => ofJudge(counted, judge, (sums) => ({ ...sums, overruled: sums.overruled + 1 })), next)
}

function ofJudge(row: TaskSums, judge: string, change: (sums: JudgeSums) => JudgeSums): TaskSums {
  const judges = { ...row.judges }
  define(judges, judge, change(ownOf(judges, judge) ?? noJudging))
  return { ...row, judges }
}

function closed(row: TaskSums): TaskSums {
  const { open: _ended, ...rest } = row
  return rest
}

/** A clock that was set back gives no negative time. */
function elapsed(from: string, to: string): number {
  const ms = Date.parse(to) - Date.parse(from)
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}
