import type { Score } from '../../contract/score.ts'
import { add, compare, div, type Rational, rational } from '../score/exact.ts'
import { scoreOf } from '../score/score.ts'

/** Scores added up exactly, so that an average is the same in whatever order they came. Unscored is not zero: it is not in here. */
export interface ScoreSum {
  count: number
  /** Fractions on the 1–5 scale, like a score's `exact`. */
  sum: string
  min?: string
  max?: string
}

export const noScores: ScoreSum = { count: 0, sum: '0/1' }

/** Sums by dimension. Names come from people, so that only own keys are looked at. */
export type ScoreSums = Record<string, ScoreSum>

export function withScore({ count, sum, min, max }: ScoreSum, exact: string): ScoreSum {
  return { count: count + 1, sum: addTexts(sum, exact), min: extreme(min, exact, -1), max: extreme(max, exact, 1) }
}

/** The same without lowest and highest, which nobody asks of a dimension. */
export function withNamed(sums: ScoreSums, name: string, exact: string): ScoreSums {
  const { count, sum } = ownOf(sums, name) ?? noScores
  const next = { ...sums }
  define(next, name, { count: count + 1, sum: addTexts(sum, exact) })
  return next
}

/** Very many sums added up. Fractions of one denominator are added by their numerators alone; denominators are few. */
export class ExactTotal {
  readonly #numerators = new Map<string, bigint>()

  add(text: string): void {
    const [n = '0', d = '1'] = text.split('/')
    this.#numerators.set(d, (this.#numerators.get(d) ?? 0n) + BigInt(n))
  }

  get value(): Rational {
    return [...this.#numerators].reduce((sum, [d, n]) => add(sum, rational(n, BigInt(d))), rational(0))
  }
}

export class ScoreTotal {
  count = 0
  readonly #sum = new ExactTotal()
  #min: string | undefined
  #max: string | undefined

  add({ count, sum, min, max }: ScoreSum): void {
    if (count === 0) return
    this.count += count
    this.#sum.add(sum)
    if (min !== undefined) this.#min = extreme(this.#min, min, -1)
    if (max !== undefined) this.#max = extreme(this.#max, max, 1)
  }

  /** The exact average; nothing where nothing was scored. */
  get average(): Score | undefined {
    return this.count === 0 ? undefined : scoreOf(div(this.#sum.value, rational(this.count)))
  }

  get min(): Score | undefined {
    return this.#min === undefined ? undefined : scoreOf(fraction(this.#min))
  }

  get max(): Score | undefined {
    return this.#max === undefined ? undefined : scoreOf(fraction(this.#max))
  }
}

/** The value under a name that somebody chose, which may be `constructor`. */
export function ownOf<T>(record: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Sets what may be called `__proto__`. */
export function define<T>(record: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The reduced sum of two reduced fractions. */
export function addTexts(one: string, other: string): string {
  if (one === '0/1') return other
  const { n, d } = add(fraction(one), fraction(other))
  return `${n}/${d}`
}

function fraction(text: string): Rational {
  const [n = '0', d = '1'] = text.split('/')
  return { n: BigInt(n), d: BigInt(d) }
}

function extreme(one: string | undefined, other: string, side: -1 | 1): string {
  return one === undefined || (one !== other && compare(fraction(other), fraction(one)) === side) ? other : one
}
