import type { EventData } from '../../contract/events/manifest.ts'
import type { Bar } from '../../contract/score.ts'
import { add, div, fromDecimal, mul, type Rational } from '../score/exact.ts'
import { describeBar, describeScore, exactOf, reaches, scoreOf } from '../score/score.ts'
import type { GateInput } from './gate.ts'

export interface WeighedInput extends GateInput {
  priority: number
}

export type Threshold =
  | { kind: 'passed'; data: EventData<'quality.threshold.passed'> }
  | { kind: 'failed'; data: EventData<'quality.threshold.failed'> }

/** The priority-weighted average over completed, scored tasks against the mission's bar. The unscored are counted beside it; none scored fails. */
export function thresholdOf(missionId: string, threshold: Bar, inputs: readonly WeighedInput[]): Threshold {
  const completed = inputs.filter(({ status }) => status === 'done')
  const scored = completed.flatMap(({ score, priority }) => (score ? [{ score: exactOf(score), weight: fromDecimal(priority) }] : []))
  const unscored = inputs.length - scored.length
  const [first, ...rest] = scored
  if (!first) return { kind: 'failed', data: { missionId, threshold, unscored, reason: 'unscored' } }
  let total: Rational = mul(first.score, first.weight)
  let weights: Rational = first.weight
  for (const { score, weight } of rest) {
    total = add(total, mul(score, weight))
    weights = add(weights, weight)
  }
  const average = div(total, weights)
  const avgScore = scoreOf(average)
  if (reaches(average, threshold)) return { kind: 'passed', data: { missionId, avgScore, threshold, unscored } }
  const reason = `the average ${describeScore(avgScore)} is below ${describeBar(threshold)}`
  return { kind: 'failed', data: { missionId, avgScore, threshold, unscored, reason } }
}
