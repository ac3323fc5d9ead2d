import { describe, expect, it } from 'vitest'
import { fiveAgents, rulesWith } from '../../testing/task/world.ts'
import { rulesFor } from './terms.ts'

const rules = rulesWith()
const { panel } = rules.policy.review

describe('the rules of one task', () => {
  it('are those of the policy where it has no terms', () => {
    expect(rulesFor({}, rules)).toBe(rules)
    expect(rulesFor({ delegatedBy: 'lead' }, rules)).toBe(rules)
  })

  it('have its own terms over them; the digest stays that of the policy', () => {
    const own = rulesFor({ terms: { panel: { ...panel, size: 1 } } }, rules)
    expect(own).toEqual({ ...rules, policy: { ...rules.policy, review: { ...rules.policy.review, panel: { ...panel, size: 1 } } } })
    expect(rules.policy.review.panel).toEqual(panel)
    const unsaid = rulesFor({ terms: { panel: undefined } as never }, rules)
    expect(unsaid.policy).toEqual(rules.policy)
  })

  it('let the manager who handed it down judge with the brain that is named', () => {
    const { agents } = rulesFor({ terms: { judge: 'shell' } as never, delegatedBy: 'lead' }, rules).policy
    expect(agents).toEqual({ ...fiveAgents, lead: { role: 'manager', brain: 'shell' } })
    expect(Object.keys(agents)).toEqual(Object.keys(fiveAgents))
  })

  it.each([undefined, 'a person'])('add a reviewer with that brain, first of all, where %s handed it down', (delegatedBy) => {
    const { agents } = rulesFor({ terms: { judge: 'shell' } as never, ...(delegatedBy !== undefined && { delegatedBy }) }, rules).policy
    const [[name, first] = ['', undefined], ...others] = Object.entries(agents)
    expect(name).toMatch(/\w/)
    expect(first).toEqual({ role: 'reviewer', brain: 'shell' })
    expect(Object.fromEntries(others)).toEqual(fiveAgents)
  })
})
