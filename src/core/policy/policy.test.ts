import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Digest } from '../../contract/canonical.ts'
import { Policy } from '../../contract/policy.ts'
import { criteriaDigest, policyDifferences, policyDigest, rubricDigest } from './policy.ts'

function policyWith(review: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): Policy {
  return Policy.parse({
    review,
    agents: { dev: { role: 'engineer', brain: 'b' }, qa: { role: 'reviewer', brain: 'b' } },
    brains: { b: { kind: 'model', provider: 'openai', model: 'm' } },
    other: { gate: { maxRetries: 2 } },
    ...rest,
  })
}

const base = policyWith()

describe('the digest of a policy', () => {
  it('is one for the same policy in another order, and another for another policy', () => {
    expect(Digest.safeParse(policyDigest(base)).success).toBe(true)
    expect(policyDigest(policyWith({}, { agents: { qa: { brain: 'b', role: 'reviewer' }, dev: { role: 'engineer', brain: 'b' } } }))).toBe(
      policyDigest(base),
    )
    expect(policyDigest(policyWith({ threshold: 60 }))).toBe(policyDigest(base))
    expect(policyDigest(policyWith({ threshold: 59 }))).not.toBe(policyDigest(base))
    expect(policyDigest(policyWith({}, { other: {} }))).not.toBe(policyDigest(base))
  })
})

describe('differences between policies', () => {
  it.each<[string, Policy, string[]]>([
    ['nothing', policyWith({ threshold: 60 }), []],
    ['a bar', policyWith({ threshold: 20 }), ['review.threshold: 60 → 20']],
    ['a mode', policyWith({ panel: { mode: 'full', size: 1 } }), ['review.panel.mode: "escalate" → "full"', 'review.panel.size: 3 → 1']],
    [
      'a weight',
      policyWith({
        dimensions: base.review.dimensions.map((dimension, index) => (index === 1 ? { ...dimension, weight: 0.5 } : dimension)),
      }),
      ['review.dimensions.1.weight: 0.3 → 0.5'],
    ],
    ['a new setting', policyWith({ maxCost: 3 }), ['review.maxCost: (not set) → 3']],
    ['an agent gone', policyWith({}, { agents: { dev: base.agents.dev } }), ['agents.qa: {"brain":"b","role":"reviewer"} → (not set)']],
    [
      'a new agent with an awkward name',
      policyWith({}, { agents: { ...base.agents, 'q.a': { role: 'qa', brain: 'b' } } }),
      ['agents."q.a": (not set) → {"brain":"b","role":"qa"}'],
    ],
    ['a shape', policyWith({}, { other: { gate: [2] } }), ['other.gate: {"maxRetries":2} → [2]']],
    ['an object for a value', policyWith({}, { other: { gate: null } }), ['other.gate: {"maxRetries":2} → null']],
    ['a value for an object', policyWith({}, { other: { gate: { maxRetries: {} } } }), ['other.gate.maxRetries: 2 → {}']],
  ])('%s', (_, after, differences) => {
    expect(policyDifferences(base, after)).toEqual(differences)
  })

  it('are named the other way round too', () => {
    expect(policyDifferences(policyWith({ threshold: 20, maxCost: 3 }), base)).toEqual([
      'review.maxCost: 3 → (not set)',
      'review.threshold: 20 → 60',
    ])
  })

  it('count list places as numbers', () => {
    const list = (changed: number) =>
      policyWith({}, { other: { list: Array.from({ length: 12 }, (_, index) => (index >= changed ? 'x' : 'y')) } })
    expect(policyDifferences(list(0), list(12)).map((line) => line.replace(/:.*/, ''))).toEqual(
      Array.from({ length: 12 }, (_, index) => `other.list.${index}`),
    )
  })

  it('shorten what is long, and say so', () => {
    const long = policyWith({}, { other: { gate: 'x'.repeat(500) } })
    expect(policyDifferences(base, long)).toEqual([`other.gate: {"maxRetries":2} → "${'x'.repeat(79)}… (502 characters)`])
    const fits = policyWith({}, { other: { gate: 'x'.repeat(78) } })
    expect(policyDifferences(base, fits)).toEqual([`other.gate: {"maxRetries":2} → "${'x'.repeat(78)}"`])
  })

  it('look at own members only', () => {
    const odd = policyWith({}, { other: { gate: { maxRetries: 2, constructor: 1 } } })
    expect(policyDifferences(base, odd)).toEqual(['other.gate.constructor: (not set) → 1'])
  })

  it('are empty exactly where the digests are equal', () => {
    const other = fc.dictionary(fc.constantFrom('a', 'b', 'c.d'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3, noNullPrototype: true })
    fc.assert(
      fc.property(other, other, fc.integer({ min: 58, max: 60 }), (one, two, threshold) => {
        const [before, after] = [policyWith({}, { other: one }), policyWith({ threshold }, { other: two })]
        expect(policyDifferences(before, after).length === 0).toBe(policyDigest(before) === policyDigest(after))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the digests of rubric and criteria', () => {
  const { dimensions } = base.review
  const criteria = [
    { id: 'AC1', text: 'it runs', hard: true },
    { id: 'AC2', text: 'it is fast', hard: false },
  ]

  it('change with everything that judges are told or held to', () => {
    const [first, ...others] = dimensions
    const rubrics = [
      rubricDigest(dimensions, 60),
      rubricDigest(dimensions, 61),
      rubricDigest(others, 60),
      rubricDigest([{ ...first!, weight: 0.4 }, ...others], 60),
      rubricDigest([{ ...first!, description: 'x' }, ...others], 60),
      rubricDigest([{ ...first!, rubric: { 5: 'x' } }, ...others], 60),
    ]
    expect(new Set(rubrics).size).toBe(rubrics.length)
    expect(rubricDigest(structuredClone(dimensions), 60)).toBe(rubrics[0])
  })

  it('change with id, text, hardness, order and number of criteria', () => {
    const [one, two] = criteria as [(typeof criteria)[0], (typeof criteria)[0]]
    const digests = [
      [one, two],
      [two, one],
      [one],
      [],
      [{ ...one, id: 'X' }, two],
      [{ ...one, text: 'X' }, two],
      [{ ...one, hard: false }, two],
    ].map(criteriaDigest)
    expect(new Set(digests).size).toBe(digests.length)
    expect(criteriaDigest(structuredClone(criteria))).toBe(digests[0])
  })
})
