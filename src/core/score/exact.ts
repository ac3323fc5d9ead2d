/** An exact fraction: reduced, with a positive denominator. Scores are compared as these, never as floating point. */
export interface Rational {
  readonly n: bigint
  readonly d: bigint
}

/** Largest power of ten that a decimal text may carry; beyond what a JavaScript number can say. */
const MAX_EXPONENT = 400

/** The fraction n/d of two integers. Throws on a zero denominator or on a number that is not an integer. */
export function rational(n: bigint | number, d: bigint | number = 1n): Rational {
  const top = BigInt(n)
  const bottom = BigInt(d)
  if (bottom === 0n) throw new RangeError(`rational: ${top}/0 is not a number`)
  const divisor = gcd(top, bottom)
  const sign = bottom < 0n ? -1n : 1n
  return { n: (sign * top) / divisor, d: (sign * bottom) / divisor }
}

/** The exact value of a decimal text: 0.35 is 7/20, not the double nearest to it. Exponent forms are read too. */
export function fromDecimal(x: number | string): Rational {
  const parts = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(x))
  if (parts === null) throw new RangeError(`fromDecimal: "${x}" is not a decimal number`)
  const [, sign = '', whole = '', fraction = '', power = '0'] = parts
  const exponent = Number(power) - fraction.length
  if (Math.abs(exponent) > MAX_EXPONENT) throw new RangeError(`fromDecimal: "${x}" is out of range`)
  const digits = BigInt(`${sign}${whole}${fraction}`)
  return exponent < 0 ? rational(digits, 10n ** BigInt(-exponent)) : rational(digits * 10n ** BigInt(exponent))
}

export function add(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d + b.n * a.d, a.d * b.d)
}

export function sub(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d - b.n * a.d, a.d * b.d)
}

export function mul(a: Rational, b: Rational): Rational {
  return rational(a.n * b.n, a.d * b.d)
}

/** Throws when b is zero. */
export function div(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d, a.d * b.n)
}

export function compare(a: Rational, b: Rational): -1 | 0 | 1 {
  const difference = a.n * b.d - b.n * a.d
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** How far apart two values are. */
export function distance(a: Rational, b: Rational): Rational {
  const difference = sub(a, b)
  return difference.n < 0n ? { n: -difference.n, d: difference.d } : difference
}

/** The value as people write it: all its decimals where they end, the fraction `n/d` where they do not. */
export function decimalText(r: Rational): string {
  let places = 0
  let rest = r.d
  while (rest % 10n === 0n) {
    rest /= 10n
    places += 1
  }
  for (const prime of [2n, 5n]) {
    while (rest % prime === 0n) {
      rest /= prime
      places += 1
    }
  }
  if (rest !== 1n) return `${r.n}/${r.d}`
  if (places === 0) return `${r.n}`
  const digits = ((r.n < 0n ? -r.n : r.n) * 10n ** BigInt(places)) / r.d
  const text = digits.toString().padStart(places + 1, '0')
  return `${r.n < 0n ? '-' : ''}${text.slice(0, -places)}.${text.slice(-places)}`
}

function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a
  let y = b < 0n ? -b : b
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}
