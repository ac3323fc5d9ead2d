import { describe, expect, it } from 'vitest'
import { rulesWith, specWith } from '../../testing/task/world.ts'
import type { Rules } from '../task/draft.ts'
import { acceptPolicy, evolveOwner, noOwner, type OwnerState } from './accepted.ts'
import { loosenedTerms, unbackedTerms } from './of-task.ts'
import { policyDigest, rubricDigest } from './policy.ts'

const file = { kind: 'file' as const, path: 'out.md' }
const beauty = [{ name: 'beauty', weight: 1, description: 'Is it beautiful?' }]
const order = { by: 'ann', reason: '', how: 'word' as const }
const behind = (...rules: Rules[]): OwnerState =>
  rules.reduce((state, one) => acceptPolicy(state, one, order).reduce(evolveOwner, state), noOwner)

function withGate(criteria: string[], review: Parameters<typeof rulesWith>[0] = {}): Rules {
  const policy = { ...rulesWith(review).policy, other: { gate: { maxRetries: 2, criteria } } }
  return { policy, digest: policyDigest(policy) }
}

describe('what a task says for itself', () => {
  const rules = rulesWith({ threshold: 60 })
  const owner = behind(rules)

  it.each([60, 3, 3.5, 61, 100])('is fine where its bar is %s and the policy’s 60', (bar) => {
    expect(loosenedTerms(owner, rules, specWith({ bar, deliverable: file }))).toBeUndefined()
  })

  it.each([6, 59.9, 2.9, 0, 5.5])('is named where its bar is %s', (bar) => {
    expect(loosenedTerms(owner, rules, specWith({ bar }))).toEqual([`threshold of the task: 60 → ${bar}`])
  })

  it('is named where its judges score something else, however high the bar', () => {
    const found = loosenedTerms(owner, rules, specWith({ bar: 90, dimensions: beauty }))
    expect(found).toContain('dimensions.0.name of the task: "correctness" → "beauty"')
    expect(found?.every((line) => line.startsWith('dimensions.'))).toBe(true)
  })

  it('is named where a deliverable lacks what the gate asks, or has it as soft', () => {
    const asking = withGate(['it says hello', 'it is signed'])
    const missing = ['criteria of the task: without "it is signed" of gate.criteria']
    expect(loosenedTerms(behind(asking), asking, specWith({ deliverable: file }))).toEqual(missing)
    expect(loosenedTerms(behind(asking), asking, specWith())).toBeUndefined()
    const soft = specWith({ deliverable: file, criteria: [{ id: 'AC1', text: 'it is signed', hard: false }] })
    expect(loosenedTerms(behind(asking), asking, soft)).toHaveLength(2)
  })

  it('is the owner’s where a policy was accepted that asks as little of everything', () => {
    const spec = specWith({ bar: 40 })
    expect(loosenedTerms(behind(rules, rulesWith({ threshold: 40 })), rules, spec)).toBeUndefined()
    expect(loosenedTerms(behind(rules, rulesWith({ threshold: 20 })), rules, spec)).toHaveLength(1)
    expect(loosenedTerms(behind(rules, rulesWith({ dimensions: beauty })), rules, specWith({ dimensions: beauty }))).toBeUndefined()
    const [asking, less] = [withGate(['it is signed']), withGate([])]
    expect(loosenedTerms(behind(asking, less), asking, specWith({ deliverable: file }))).toBeUndefined()
  })
})

describe('the owner stands behind a decision', () => {
  const rules = rulesWith({ threshold: 60 })
  const subject = (bar: number) => ({ content: 'c', criteria: 'k', policy: rules.digest, rubric: rubricDigest(specWith().dimensions, bar) })

  it('under an accepted policy of which the task took nothing away', () => {
    const decided = { policy: rules.digest }
    expect(unbackedTerms(behind(rules), decided, specWith())).toEqual([])
    expect(unbackedTerms(behind(rules), decided, specWith({ bar: 6 }))).toEqual(['threshold of the task: 60 → 6'])
    expect(unbackedTerms(behind(rules), { ...decided, bound: subject(6) }, specWith({ bar: 6 }))).toHaveLength(1)
  })

  it('and where not, each term is named: of the policy, the bar, the rubric, the criteria', () => {
    const decided = { policy: rules.digest }
    expect(unbackedTerms(noOwner, decided, specWith())).toEqual(['policy: the owner has accepted none like it'])
    const lower = rulesWith({ threshold: 20 })
    expect(unbackedTerms(behind(rules), { policy: lower.digest }, specWith({ bar: 20 }), lower.policy)).toEqual([
      'policy, review.threshold: 60 → 20',
    ])
    const rubric = unbackedTerms(behind(rules), decided, specWith({ dimensions: beauty }))
    expect(rubric.length).toBeGreaterThan(0)
    for (const term of rubric) expect(term).toMatch(/^dimensions\.\S+ of the task: /)
    const gated = withGate(['It is short.'])
    expect(unbackedTerms(behind(gated), { policy: gated.digest }, specWith({ deliverable: file, criteria: [] }))).toEqual([
      'criteria of the task: without "It is short." of gate.criteria',
    ])
  })

  it('though a policy that took over later has lowered the bar of the task', () => {
    expect(unbackedTerms(behind(rules), { policy: rules.digest, bound: subject(60) }, specWith({ bar: 20 }))).toEqual([])
  })
})
