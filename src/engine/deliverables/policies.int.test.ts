import { afterEach, describe, expect, it } from 'vitest'
import { acceptInForce } from '../policy/owner.ts'
import { openGateWorld } from '../../testing/deliverables/world.ts'
import { freeId } from './free.ts'
import { reviewDeliverable } from './review.ts'

const never = new AbortController().signal
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const world of open.splice(0)) await world.close()
})

/** Three policies over one journal; the first that is used is accepted, the others are not. */
function world(bars: readonly number[], config: object = {}) {
  const opened = openGateWorld({ bars, config })
  open.push(opened)
  const engine = (policy: number) => opened.engines[policy] as (typeof opened.engines)[number]
  const review = async (policy: number, content: string, id = 'd', producer = 'ana') => {
    opened.files.set(id, content)
    return reviewDeliverable(engine(policy), await opened.bring(id, producer, id), never)
  }
  const send = (policy: number, metadata: object = {}, id = 'd', from = 'ana') =>
    engine(policy).emitCard(
      { type: 'report_ready', title: 't', body: '', priority: 'normal', metadata: { deliverableId: id, ...metadata } },
      { from, digestOf: opened.digestOf },
    )
  const accept = (policy: number) => acceptInForce(engine(policy).parts, { by: 'owner', reason: 'yes', how: 'word' })
  return { ...opened, engine, review, send, accept }
}

describe('a policy that nobody but its producer chose', () => {
  it('judges as any other, and lets nothing leave until the owner accepts it', async () => {
    const { review, send, accept, engine } = world([60, 20])
    expect(await review(0, 'text: score=40 thin')).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION' } })
    expect(await review(1, 'text: score=40 thin')).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    const refused = await send(1)
    expect(refused).toMatchObject({ ok: false, code: 'policy_not_accepted', verdict: 'PASS' })
    expect(refused.ok ? '' : refused.message).toMatch(/review\.threshold: 60 → 20.*assay policy accept/)
    const recorded = (await engine(0).events(0, 1000)).filter(({ type }) => type === 'release.refused')
    expect(recorded.at(-1)?.data).toMatchObject({ code: 'policy_not_accepted', deliverable: 'd', by: 'ana' })
    expect((await engine(0).inbox()).filter(({ type }) => type === 'report_ready')).toEqual([])
    expect(await accept(1)).toMatchObject({ ok: true, value: { differences: ['review.threshold: 60 → 20'] } })
    expect(await review(1, 'text: score=40 thin')).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    expect(await send(1)).toMatchObject({ ok: true, card: { flag: 'pass' } })
  })

  it('lets no agent waive its review, which is put to the owner instead', async () => {
    const lax = world([60, 61], { gate: { agentBypass: true } })
    await lax.review(0, 'text: score=90 good', 'first')
    await lax.review(1, 'text: score=20 bad')
    expect(await lax.send(1, { evaluatorBypass: true })).toMatchObject({ ok: false, code: 'bypass_refused' })
    expect(await lax.engine(0).requests()).toMatchObject([{ request: 'd/bypass#1' }])
    await lax.accept(1)
    expect(await lax.send(1, { evaluatorBypass: true })).toMatchObject({ ok: true, bypass: true, card: { flag: 'bypassed' } })
  })
})

describe('the tries of a deliverable', () => {
  const bad = (n: number) => `text: score=10 bad ${n}`

  it('are not given anew by a review under another bar, whether it fails or passes there', async () => {
    const { review } = world([60, 20, 70])
    expect(await review(0, bad(1))).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION', allowed: 3 } })
    expect(await review(0, bad(2))).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION' } })
    expect(await review(1, 'text: score=40 thin')).toMatchObject({ ok: true, value: { verdict: 'PASS', allowed: 1 } })
    expect(await review(0, bad(3))).toMatchObject({ ok: true, value: { verdict: 'FAIL', attempt: 1, allowed: 1 } })
    for (const policy of [0, 1, 2])
      expect(await review(policy, bad(4 + policy)), `policy ${policy}`).toMatchObject({ ok: false, error: { code: 'attempts_used_up' } })
  })

  it('are given anew by a policy that the owner accepted since, and by a pass under one', async () => {
    const { review, accept } = world([60, 50])
    for (const n of [1, 2, 3]) await review(0, bad(n))
    expect(await review(1, bad(4))).toMatchObject({ ok: false, error: { code: 'attempts_used_up' } })
    await accept(1)
    expect(await review(1, bad(5))).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION', allowed: 3 } })
    expect(await review(1, 'text: score=90 good')).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    expect(await review(0, bad(6))).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION', allowed: 3 } })
  })
})

describe('an id', () => {
  it('that somebody took before is freed by the owner, for whoever brings something next', async () => {
    const { review, send, engine } = world([60])
    await review(0, 'text: score=90 squat', 'd', 'mallory')
    expect(await send(0, {}, 'd', 'mallory')).toMatchObject({ ok: true })
    expect(await review(0, 'text: score=90 mine')).toMatchObject({ ok: false, error: { code: 'already_exists' } })
    expect(await freeId(engine(0).parts, 'd', { by: 'owner', reason: 'squatted' })).toMatchObject({ ok: true })
    expect((await engine(0).inbox()).map(({ state }) => state)).toEqual(['expired'])
    expect(await send(0, {}, 'd', 'mallory')).toMatchObject({ ok: false, code: 'deliverable_unknown' })
    expect(await review(0, 'text: score=90 mine')).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    expect(await send(0)).toMatchObject({ ok: true, card: { from: 'ana' } })
  })

  it('of a producer that cannot be one is refused before anything is judged', async () => {
    const { review, engine } = world([60])
    for (const producer of ['runtime', 'owner'])
      expect(await review(0, 'text: score=90', 'x', producer)).toMatchObject({ ok: false, error: { code: 'bad_command' } })
    expect(await engine(0).missions()).toEqual([])
  })
})

describe('what was sent', () => {
  it('is not sent again while its card is pending, nor after it was dismissed; a new version is', async () => {
    const { review, send, engine } = world([60])
    await review(0, 'text: score=90 one')
    const sent = await send(0)
    const card = sent.ok ? sent.card.card : ''
    expect(await send(0)).toMatchObject({ ok: false, code: 'already_sent', message: expect.stringContaining(card) })
    await engine(0).closeCard(card, { state: 'dismissed', by: 'owner', reason: 'no' })
    expect(await send(0)).toMatchObject({ ok: false, code: 'already_sent', message: expect.stringContaining('dismissed') })
    await review(0, 'text: score=90 two')
    expect(await send(0)).toMatchObject({ ok: true })
  })

  it('stays sendable on a bypass while its bytes lie there, though a later version failed', async () => {
    const { review, send, engine, files } = world([60])
    await review(0, 'text: score=30 first')
    await engine(0).bypass('d', { by: 'owner', reason: 'urgent' })
    await review(0, 'text: score=20 second')
    expect(await send(0)).toMatchObject({ ok: false, code: 'needs_revision' })
    files.set('d', 'text: score=30 first')
    expect(await send(0)).toMatchObject({ ok: true, bypass: true, card: { flag: 'bypassed' } })
    files.set('d', 'text: score=20 third')
    expect(await send(0)).toMatchObject({ ok: false, code: 'content_changed' })
  })
})
