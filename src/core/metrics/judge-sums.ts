import type { EventData } from '../../contract/events/manifest.ts'
import { div, fromDecimal, rational } from '../score/exact.ts'
import { type CallSum, noCalls, withCall } from './call-sum.ts'
import { type RecentScore, withRecent } from './recent.ts'
import { noScores, type ScoreSum, type ScoreSums, withNamed, withScore } from './score-sum.ts'

/** What one judge did in one task. */
export interface JudgeSums {
  /** Verdicts that count as evidence, and honest abstentions. */
  verdicts: number
  accepts: number
  abstained: number
  scores: ScoreSum
  dimensions: ScoreSums
  /** Asked again because it could not be reached; because its reply could not be read. */
  retries: number
  reprompts: number
  unreadable: number
  unavailable: number
  /** Graded verdicts in reviews that came to a graded decision: what agreement and overrules are shares of. */
  decided: number
  agreed: number
  /** Verdicts that the owner turned, each once. */
  overruled: number
  calls: CallSum
  recent: RecentScore[]
}

export const noJudging: JudgeSums = {
  verdicts: 0,
  accepts: 0,
  abstained: 0,
  scores: noScores,
  dimensions: {},
  retries: 0,
  reprompts: 0,
  unreadable: 0,
  unavailable: 0,
  decided: 0,
  agreed: 0,
  overruled: 0,
  calls: noCalls,
  recent: [],
}

/** A verdict came. One that was remembered from the same question cost no call. */
export function withVerdict(
  sums: JudgeSums,
  { sitting, reused }: EventData<'verdict.recorded'>,
  { position, dimensions }: { position: number; dimensions: readonly string[] },
): JudgeSums {
  const calls = reused ? sums.calls : withCall(sums.calls, sitting.usage)
  const counted = { ...sums, verdicts: sums.verdicts + 1, calls }
  if (sitting.outcome === 'abstained') return { ...counted, abstained: sums.abstained + 1 }
  const named = withDimensions(sums.dimensions, sitting, dimensions)
  const graded = { ...counted, accepts: sums.accepts + (sitting.accepts ? 1 : 0), dimensions: named }
  if (!sitting.score) return graded
  return { ...graded, scores: withScore(sums.scores, sitting.score.exact), recent: withRecent(sums.recent, position, sitting.score) }
}

/** A text judge's one score counts for every dimension of the task. */
function withDimensions(sums: ScoreSums, { verdict, text }: EventData<'verdict.recorded'>['sitting'], names: readonly string[]): ScoreSums {
  if (verdict) return verdict.dimensions.reduce((all, { name, score }) => withNamed(all, name, `${score}/1`), sums)
  if (!text) return sums
  const { n, d } = div(fromDecimal(text.score100), rational(20))
  return names.reduce((all, name) => withNamed(all, name, `${n}/${d}`), sums)
}

export function withAsk(sums: JudgeSums, { because }: EventData<'seat.asked'>): JudgeSums {
  if (because === 'retry') return { ...sums, retries: sums.retries + 1 }
  return because === 'reprompt' ? { ...sums, reprompts: sums.reprompts + 1 } : sums
}
