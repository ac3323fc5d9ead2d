import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { add, compare, decimalText, distance, div, fromDecimal, mul, type Rational, rational, sub } from './exact.ts'

const whole = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n })
const fraction = fc.tuple(whole, fc.bigInt({ min: 1n, max: 10n ** 9n })).map(([n, d]) => rational(n, d))

describe('rational', () => {
  it.each<[bigint | number, bigint | number | undefined, string]>([
    [6, 4, '3/2'],
    [6, -4, '-3/2'],
    [-6, -4, '3/2'],
    [-6n, 4n, '-3/2'],
    [0, 7, '0/1'],
    [0, -7, '0/1'],
    [5, undefined, '5/1'],
    [10n, 5n, '2/1'],
  ])('%s over %s is %s', (n, d, text) => {
    const r = d === undefined ? rational(n) : rational(n, d)
    expect(`${r.n}/${r.d}`).toBe(text)
  })

  it('refuses a zero denominator and what is no integer', () => {
    expect(() => rational(1, 0)).toThrow('1/0 is not a number')
    expect(() => rational(0.5)).toThrow(RangeError)
  })
})

describe('fromDecimal', () => {
  it.each<[number | string, string]>([
    [0.35, '7/20'],
    [0.1, '1/10'],
    ['72.50', '145/2'],
    ['007', '7/1'],
    [3, '3/1'],
    [-1.5, '-3/2'],
    ['+1.5', '3/2'],
    [1e-7, '1/10000000'],
    [1e21, '1000000000000000000000/1'],
    ['1.25e2', '125/1'],
    ['1.25E1', '25/2'],
    ['5e+1', '50/1'],
    ['-0.0', '0/1'],
    [5e-324, `5/1${'0'.repeat(324)}`.replace(/^5\/10/, '1/2')],
  ])('%s is %s', (text, expected) => {
    const r = fromDecimal(text)
    expect(`${r.n}/${r.d}`).toBe(expected)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '', '1.', '.5', 'x1', '1x', '1e', '0x10', ' 1', '1,5', '1e2e3'])('refuses %s', (text) => {
    expect(() => fromDecimal(text)).toThrow('is not a decimal number')
  })

  it('limits the exponent both ways, and what it limits is the power of ten', () => {
    expect(fromDecimal('1e400').n).toBe(10n ** 400n)
    expect(() => fromDecimal('1e401')).toThrow('"1e401" is out of range')
    expect(fromDecimal('1e-400').d).toBe(10n ** 400n)
    expect(() => fromDecimal('1.0e-400')).toThrow('out of range')
    expect(() => fromDecimal('1e999999999')).toThrow('out of range')
  })

  it('reads every double back to itself', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), (x) => {
        const { n, d } = fromDecimal(x)
        expect(Number(decimalText({ n, d }))).toBe(x + 0)
      }),
    )
  })
})

describe('arithmetic', () => {
  it.each<[string, Rational, string]>([
    ['1/2 + 1/3', add(rational(1, 2), rational(1, 3)), '5/6'],
    ['1/2 - 1/3', sub(rational(1, 2), rational(1, 3)), '1/6'],
    ['1/3 - 1/2', sub(rational(1, 3), rational(1, 2)), '-1/6'],
    ['2/3 × 3/4', mul(rational(2, 3), rational(3, 4)), '1/2'],
    ['2/3 ÷ 3/4', div(rational(2, 3), rational(3, 4)), '8/9'],
    ['2/3 ÷ -3/4', div(rational(2, 3), rational(-3, 4)), '-8/9'],
    ['|1/3 - 1/2|', distance(rational(1, 3), rational(1, 2)), '1/6'],
    ['|1/2 - 1/3|', distance(rational(1, 2), rational(1, 3)), '1/6'],
  ])('%s', (_, { n, d }, expected) => {
    expect(`${n}/${d}`).toBe(expected)
  })

  it('refuses to divide by zero', () => {
    expect(() => div(rational(1), rational(0))).toThrow(RangeError)
  })

  it('compares by value', () => {
    expect(compare(rational(1, 3), rational(1, 2))).toBe(-1)
    expect(compare(rational(1, 2), rational(1, 3))).toBe(1)
    expect(compare(rational(2, 4), rational(1, 2))).toBe(0)
    expect(compare(rational(-1, 2), rational(1, 3))).toBe(-1)
  })

  it('keeps the laws of fractions, always reduced', () => {
    fc.assert(
      fc.property(fraction, fraction, fraction, (a, b, c) => {
        expect(sub(add(a, b), b)).toEqual(a)
        expect(mul(a, add(b, c))).toEqual(add(mul(a, b), mul(a, c)))
        if (b.n !== 0n) expect(mul(div(a, b), b)).toEqual(a)
        expect(compare(a, b)).toBe(-compare(b, a) + 0)
        expect(compare(add(a, c), add(b, c))).toBe(compare(a, b))
        expect(distance(a, b)).toEqual(distance(b, a))
        expect(distance(a, b).n >= 0n).toBe(true)
      }),
    )
  })
})

describe('decimalText', () => {
  it.each<[bigint, bigint, string]>([
    [3n, 1n, '3'],
    [0n, 1n, '0'],
    [7n, 20n, '0.35'],
    [29n, 8n, '3.625'],
    [1n, 3n, '1/3'],
    [-1n, 8n, '-0.125'],
    [-3n, 1n, '-3'],
    [1n, 25n, '0.04'],
    [12345n, 100n, '123.45'],
    [1n, 1000n, '0.001'],
  ])('%s/%s is %s', (n, d, text) => {
    expect(decimalText(rational(n, d))).toBe(text)
  })
})
