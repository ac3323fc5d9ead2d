import type { Bar, Dimension, Score } from '../../contract/score.ts'
import { add, compare, decimalText, div, fromDecimal, mul, type Rational, rational } from './exact.ts'

const TWENTY = rational(20)
const FIVE = rational(5)
const ZERO = rational(0)
const ONE = rational(1)

/** A score as the journal keeps it. What people read is cut to two decimals, so that a score below the bar never reads as the bar. */
export function scoreOf(r: Rational): Score {
  if (r.n < 0n) throw new RangeError(`scoreOf: ${r.n}/${r.d} is negative`)
  return { exact: `${r.n}/${r.d}`, on5: cut(r), on100: cut(mul(r, TWENTY)) }
}

export function exactOf(score: Score): Rational {
  const [n = '', d = ''] = score.exact.split('/')
  return rational(BigInt(n), BigInt(d))
}

/** The bar on the 1–5 scale: a number up to 5 is already on it, a larger one is on 0–100. */
export function barOf(bar: Bar): Rational {
  const written = fromDecimal(bar)
  return compare(written, FIVE) > 0 ? div(written, TWENTY) : written
}

export function reaches(score: Rational, bar: Bar): boolean {
  return compare(score, barOf(bar)) >= 0
}

/** Σ score × weight ÷ Σ weight. Throws when a dimension has no score: an average over what happens to be there would be another score. */
export function globalScore(scores: ReadonlyMap<string, Rational>, dimensions: readonly Dimension[]): Rational {
  let sum = ZERO
  for (const { name, weight } of dimensions) {
    const score = scores.get(name)
    if (score === undefined) throw new TypeError(`globalScore: dimension "${name}" has no score`)
    sum = add(sum, mul(score, fromDecimal(weight)))
  }
  return div(sum, weightSum(dimensions))
}

/** Both scales, e.g. `3.0 (60/100)`. */
export function describeBar(bar: Bar): string {
  const on5 = barOf(bar)
  return bothScales(decimalText(on5), decimalText(mul(on5, TWENTY)))
}

/** Both scales, e.g. `3.49 (69.99/100)`. */
export function describeScore(score: Score): string {
  return bothScales(String(score.on5), String(score.on100))
}

/** Whether the weights sum to 1, in exact arithmetic; if not, a notice or, when `strict`, a refusal that names the sum. */
export function checkWeights(
  dimensions: readonly Dimension[],
  mode: 'normalise' | 'strict',
): { ok: true; notice?: string } | { ok: false; message: string } {
  const sum = weightSum(dimensions)
  if (compare(sum, ONE) === 0) return { ok: true }
  const found = `the weights of the dimensions sum to ${decimalText(sum)}, not 1`
  if (mode === 'strict') return { ok: false, message: `${found}: correct them, or set review.weightSum to normalise` }
  return { ok: true, notice: `${found}: each counts by its share of the sum` }
}

/** The middle value; of two middle ones the lower. */
export function lowerMedian(values: readonly Rational[]): Rational {
  return middle(values, (values.length - 1) >> 1)
}

/** The middle value; between two middle ones halfway. */
export function midpointMedian(values: readonly Rational[]): Rational {
  return div(add(lowerMedian(values), middle(values, values.length >> 1)), rational(2))
}

function middle(values: readonly Rational[], index: number): Rational {
  const value = values.toSorted(compare)[index]
  if (value === undefined) throw new RangeError('the median of no values')
  return value
}

function weightSum(dimensions: readonly Dimension[]): Rational {
  return dimensions.reduce((sum, { weight }) => add(sum, fromDecimal(weight)), ZERO)
}

function cut(r: Rational): number {
  return Number((r.n * 100n) / r.d) / 100
}

function bothScales(on5: string, on100: string): string {
  return `${on5.includes('.') ? on5 : `${on5}.0`} (${on100}/100)`
}
