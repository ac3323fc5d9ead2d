import { describe, expect, it } from 'vitest'
import { Config } from '../../contract/config/config.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { policyOf } from '../../engine/project.ts'
import type { Rules } from '../task/draft.ts'
import { acceptPolicy, evolveOwner, isAccepted, namedDifferences, noOwner, onFirstUse, unacceptedDifferences } from './accepted.ts'
import { policyDigest } from './policy.ts'

function rules(threshold: number): Rules {
  const policy = policyOf(Config.parse({ review: { threshold } }))
  return { policy, digest: policyDigest(policy) }
}

const after = (...events: AssayEvent[]) => events.reduce(evolveOwner, noOwner)

describe('the policies that an owner stands behind', () => {
  it('begin with the first that a journal sees, and no later one joins them by being used', () => {
    const first = onFirstUse(noOwner, rules(60), 'token')
    expect(first.map(({ type }) => type)).toEqual(['owner.enrolled', 'policy.accepted'])
    const state = after(...first)
    expect(isAccepted(state, rules(60).digest)).toBe(true)
    expect(isAccepted(state, rules(20).digest)).toBe(false)
    expect(onFirstUse(state, rules(20), 'another')).toEqual([])
  })

  it('are accepted once by being started, and anew by the owner’s word', () => {
    const started = acceptPolicy(after(...onFirstUse(noOwner, rules(60), 'token')), rules(70), { by: 'eve', reason: '', how: 'started' })
    const state = after(...onFirstUse(noOwner, rules(60), 'token'), ...started)
    expect(isAccepted(state, rules(70).digest)).toBe(true)
    expect(acceptPolicy(state, rules(70), { by: 'eve', reason: '', how: 'started' })).toEqual([])
    expect(acceptPolicy(state, rules(60), { by: 'eve', reason: 'back', how: 'word' })).toHaveLength(1)
  })

  it('a journal without an owner still has its first policy, and enrols the owner when one comes', () => {
    const state = after(...onFirstUse(noOwner, rules(60), undefined))
    expect(state).toMatchObject({ accepted: [{ how: 'first' }] })
    expect(state.token).toBeUndefined()
    expect(onFirstUse(state, rules(20), 'token').map(({ type }) => type)).toEqual(['owner.enrolled'])
  })

  it('differ by name from one that nobody accepted', () => {
    const state = after(...onFirstUse(noOwner, rules(60), 'token'))
    expect(unacceptedDifferences(state, rules(60))).toBeUndefined()
    expect(unacceptedDifferences(state, rules(20))).toEqual(['review.threshold: 60 → 20'])
    expect(unacceptedDifferences(noOwner, rules(20))).toEqual([])
    expect(namedDifferences([])).toContain('accepted yet')
    expect(namedDifferences(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a; b; c; d; and 2 more')
  })
})
