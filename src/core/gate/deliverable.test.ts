import { describe, expect, it } from 'vitest'
import type { Submission } from '../../contract/deliverable/deliverable.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import {
  answerBypass,
  type DeliverableState,
  evolveDeliverable,
  freeDeliverable,
  grantBypass,
  type MaybeDeliverable,
  requestBypass,
  submitDeliverable,
} from './deliverable.ts'

const version = (digest: string, producer = 'ana'): Omit<Submission, 'submission'> => ({
  kind: 'file',
  title: 'Report',
  producer,
  task: 'deliverable-r-1/subject',
  subject: { content: digest, criteria: 'c', rubric: 'r', policy: 'p' },
  snapshot: `snapshot of ${digest}`,
  digest,
})

const fold = (events: readonly AssayEvent[], from?: MaybeDeliverable): DeliverableState => {
  const state = events.reduce<MaybeDeliverable>(evolveDeliverable, from)
  if (!state) throw new Error('nothing was submitted')
  return state
}
const eventsOf = (decided: ReturnType<typeof submitDeliverable>): AssayEvent[] => {
  if (!decided.ok) throw new Error(decided.error.message)
  return decided.value
}
const submitted = (digest = 'one'): DeliverableState => fold(eventsOf(submitDeliverable(undefined, 'r', version(digest))))
const order = { by: 'owner', reason: 'because', until: '2026-12-01T00:00:00Z', byAgent: false }

describe('a deliverable', () => {
  it('counts its versions and stays its producer’s', () => {
    const one = submitted()
    const two = fold(eventsOf(submitDeliverable(one, 'r', version('two'))), one)
    expect([one.latest.submission, two.latest.submission, two.latest.digest]).toEqual([1, 2, 'two'])
    expect(submitDeliverable(two, 'r', version('three', 'ben'))).toMatchObject({ ok: false, error: { code: 'already_exists' } })
  })

  it('keeps a waived review for the bytes that it was about, and needs a reason for one', () => {
    const one = submitted()
    const waived = fold(eventsOf(grantBypass(one, order)), one)
    const two = fold(eventsOf(submitDeliverable(waived, 'r', version('two'))), waived)
    expect(two.bypasses).toEqual([{ deliverable: 'r', digest: 'one', ...order, version: one.latest }])
    expect(grantBypass(one, { ...order, reason: ' ' })).toMatchObject({ ok: false, error: { code: 'reason_required' } })
    expect(grantBypass(undefined, order)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it('is waived for the digest that the owner names, or not at all', () => {
    const one = submitted('sha256:0123456789')
    for (const digest of ['sha256:0123456', '01234567', 'sha256:0123456789'])
      expect(eventsOf(grantBypass(one, { ...order, digest })), digest).toHaveLength(1)
    for (const digest of ['abcdef01', 'sha256:0123456780', '0123', ''])
      expect(grantBypass(one, { ...order, digest }), digest).toMatchObject({ ok: false, error: { code: 'wrong_status' } })
  })

  it('that the owner takes away is whoever’s that brings something next, and nothing that was waived before', () => {
    const waived = fold(eventsOf(grantBypass(submitted(), order)), submitted())
    expect(freeDeliverable(waived, { by: 'owner', reason: ' ' })).toMatchObject({ ok: false, error: { code: 'reason_required' } })
    expect(freeDeliverable(undefined, order)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    const freed = fold(eventsOf(freeDeliverable(waived, order)), waived)
    expect(freeDeliverable(freed, order)).toMatchObject({ ok: false, error: { code: 'wrong_status' } })
    expect(grantBypass(freed, order)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    const taken = fold(eventsOf(submitDeliverable(freed, 'r', version('two', 'ben'))), freed)
    expect(taken).toMatchObject({ producer: 'ben', bypasses: [], latest: { submission: 2, digest: 'two' } })
    expect(taken.freed).toBeUndefined()
    expect(submitDeliverable(taken, 'r', version('three'))).toMatchObject({ ok: false, error: { code: 'already_exists' } })
  })

  it('asks the owner once for each version, and takes one answer', () => {
    const one = submitted()
    const asked = fold(requestBypass(one, 'ana', 'it is late'), one)
    expect(asked.request).toEqual({ request: 'r/bypass#1', digest: 'one', by: 'ana' })
    expect(requestBypass(asked, 'ana', 'again')).toEqual([])
    const answered = eventsOf(answerBypass(asked, { ...order, request: 'r/bypass#1', answer: 'accept' }))
    expect(answered.map(({ type }) => type)).toEqual(['operator.answered', 'bypass.granted'])
    const after = fold(answered, asked)
    expect(after.request).toBeUndefined()
    expect(after.bypasses).toHaveLength(1)
    expect(answerBypass(after, { ...order, request: 'r/bypass#1', answer: 'accept' })).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    })
  })

  it('takes no for an answer, nothing else for one, and none about bytes that are gone', () => {
    const one = submitted()
    const asked = fold(requestBypass(one, 'ana', ''), one)
    const no = eventsOf(answerBypass(asked, { ...order, request: 'r/bypass#1', answer: 'fail' }))
    expect(no.map(({ type }) => type)).toEqual(['operator.answered'])
    expect(answerBypass(asked, { ...order, request: 'r/bypass#1', answer: 'retry' })).toMatchObject({
      ok: false,
      error: { code: 'bad_answer' },
    })
    const moved = fold(eventsOf(submitDeliverable(asked, 'r', version('two'))), asked)
    expect(answerBypass(moved, { ...order, request: 'r/bypass#1', answer: 'accept' })).toMatchObject({
      ok: false,
      error: { code: 'wrong_status' },
    })
    const askedAgain = fold(requestBypass(moved, 'ana', ''), moved)
    expect(askedAgain.request?.request).toBe('r/bypass#2')
  })

  it('closes what its producer asked when the owner waives by himself, but not when a policy does', () => {
    const one = submitted()
    const asked = fold(requestBypass(one, 'ana', ''), one)
    expect(eventsOf(grantBypass(asked, order)).map(({ type }) => type)).toEqual(['operator.answered', 'bypass.granted'])
    expect(eventsOf(grantBypass(asked, { ...order, byAgent: true })).map(({ type }) => type)).toEqual(['bypass.granted'])
  })
})
