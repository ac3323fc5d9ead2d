import { describe, expect, it } from 'vitest'
import type { CheckSpec } from '../../contract/check.ts'
import type { Policy } from '../../contract/policy.ts'
import { rulesWith, specWith } from '../../testing/task/world.ts'
import { underPolicy } from './adopt.ts'

const file = (path: string): CheckSpec => ({ kind: 'file', path })
const beauty = [{ name: 'beauty', weight: 1, description: 'Is it beautiful?' }]
const policy = (review: object = {}, checks?: CheckSpec[]): Policy => ({ ...rulesWith(review).policy, other: checks ? { checks } : {} })

describe('a task under a changed policy', () => {
  it('has the new bar and dimensions where it had those of the policy', () => {
    const terms = underPolicy(specWith(), policy(), policy({ threshold: 80, dimensions: beauty }))
    expect(terms).toEqual({ bar: 80, dimensions: beauty, checks: [] })
  })

  it('keeps what the mission said of it', () => {
    const spec = specWith({ bar: 4.5, dimensions: beauty, checks: [file('own')] })
    expect(underPolicy(spec, policy(), policy({ threshold: 80 }))).toEqual({ bar: 4.5, dimensions: beauty, checks: [file('own')] })
  })

  it('has the new checks of the configuration in the place of the old ones, before its own', () => {
    const spec = specWith({ checks: [file('old'), file('older'), file('own')] })
    const before = policy({}, [file('old'), file('older')])
    expect(underPolicy(spec, before, policy({}, [file('new')])).checks).toEqual([file('new'), file('own')])
    expect(underPolicy(spec, before, policy()).checks).toEqual([file('own')])
  })

  it('has what the gate asks now of its deliverable, too', () => {
    const asking: Policy = { ...policy(), other: { gate: { criteria: ['it says hello', 'it is signed'] } } }
    const { criteria } = underPolicy(specWith({ deliverable: { kind: 'file', path: 'a' } }), policy(), asking)
    expect(criteria?.map(({ id, text }) => `${id} ${text}`)).toEqual(['AC1 core.txt exists', 'AC2 it says hello', 'AC3 it is signed'])
    expect(underPolicy(specWith(), policy(), asking)).not.toHaveProperty('criteria')
    expect(underPolicy(specWith({ deliverable: { kind: 'file', path: 'a' } }), asking, policy())).not.toHaveProperty('criteria')
  })

  it('keeps all of its own where it has the old ones otherwise', () => {
    const spec = specWith({ checks: [file('own'), file('old')] })
    expect(underPolicy(spec, policy({}, [file('old')]), policy({}, [file('new')])).checks).toEqual([file('new'), file('own'), file('old')])
  })
})
