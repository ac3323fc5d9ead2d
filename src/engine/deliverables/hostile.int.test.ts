import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Card, CardRequest } from '../../contract/deliverable/deliverable.ts'
import { digestOfText, openGateWorld, scoreOf } from '../../testing/deliverables/world.ts'
import { acceptInForce } from '../policy/owner.ts'
import { exportCard } from './export.ts'
import { reviewDeliverable } from './review.ts'

const day = 86_400_000
const timeout = 600_000
const never = new AbortController().signal
const bars = [60, 75]
const ids = ['d1', 'd2']
const contents = ['text: score=90 first', 'text: score=80 second', 'text: score=65 only under the lower bar', 'text: score=20 bad']

type Action =
  | { do: 'write'; id: string; content: string }
  | {
      do: 'review' | 'send' | 'askBypass' | 'bypass' | 'answer' | 'overrule' | 'smuggle'
      id: string
      by: string
      pass: boolean
      type: CardRequest['type']
    }
  | { do: 'wait'; days: number }
  | { do: 'policy' | 'judges' | 'accept' }

const id = fc.constantFrom('d1', 'd1', 'd2')
const act = (name: Extract<Action, { by: string }>['do']) =>
  fc.record({
    do: fc.constant(name),
    // Mostly one deliverable of one producer, so that something can come of it.
    id: fc.constantFrom('d1', 'd1', 'd1', 'd1', 'd2', 'unknown'),
    by: fc.constantFrom('ana', 'ana', 'ana', 'ben', 'qa', 'qa'),
    pass: fc.boolean(),
    type: fc.constantFrom('milestone' as const, 'trace' as const, 'operator_request' as const, 'error_alert' as const),
  })
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), id, content: fc.constantFrom(...contents, contents[3] ?? '') }) },
  { weight: 6, arbitrary: act('review') },
  { weight: 7, arbitrary: act('send') },
  { weight: 1, arbitrary: act('askBypass') },
  { weight: 2, arbitrary: act('bypass') },
  { weight: 1, arbitrary: act('answer') },
  { weight: 3, arbitrary: act('overrule') },
  { weight: 1, arbitrary: act('smuggle') },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.constantFrom(1, 8) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('policy' as const, 'policy' as const, 'judges' as const, 'accept' as const) }) },
)

/** What the test itself knows of a deliverable: never what Assay says of it. */
interface Known {
  producer: string
  latest: string
  policy: number
  /** Contents that the owner spoke for, and against, by `content@policy`; and waived, until then. */
  accepted: Set<string>
  turnedDown: Set<string>
  waived: Map<string, number>
}

const seen = { pass: 0, 'owner-accepted': 0, bypassed: 0, refused: 0, swapped: 0, stolen: 0, selfish: 0, unaccepted: 0 }

/** `elsewhere`: the other policy was used first, and is the one that the owner trusts. */
async function play(actions: readonly Action[], elsewhere: boolean): Promise<void> {
  const world = openGateWorld({ bars })
  const known = new Map<string, Known>()
  const legitimate = new Map<string, string>()
  /** Policies that the owner stands behind: the first that was used, and those that were accepted. */
  const standsBehind = new Set<number>()
  let policy = 0
  let reachable = true
  const engine = () => world.engines[policy] as (typeof world.engines)[number]

  /** Every flag that its card may have now; none where it must not leave. */
  const mayHave = (one: Known): Card['flag'][] => {
    const key = `${one.latest}@${one.policy}`
    const flags: Card['flag'][] = []
    if (one.policy === policy && one.accepted.has(key)) flags.push('owner-accepted')
    if (one.policy === policy && standsBehind.has(policy) && !one.turnedDown.has(key) && scoreOf(one.latest) >= (bars[policy] ?? 101))
      flags.push('pass')
    if ((one.waived.get(one.latest) ?? 0) > world.clock.now()) flags.push('bypassed')
    return flags
  }
  const cardOf = (deliverable: string, bypass: boolean): CardRequest => ({
    type: 'report_ready',
    title: deliverable,
    body: '',
    priority: 'normal',
    metadata: { deliverableId: deliverable, ...(bypass && { evaluatorBypass: true }) },
  })

  if (elsewhere) {
    world.files.set('first', contents[0] ?? '')
    await reviewDeliverable(engine(), await world.bring('first', 'ana', 'first'), never)
    standsBehind.add(policy)
    policy = 1 - policy
  }
  for (const one of actions) {
    if (one.do === 'wait') world.advance(one.days * day)
    else if (one.do === 'policy') policy = 1 - policy
    else if (one.do === 'accept') {
      expect(await acceptInForce(engine().parts, { by: 'owner', reason: 'yes', how: 'word' })).toMatchObject({ ok: true })
      standsBehind.add(policy)
    } else if (one.do === 'judges') {
      reachable = !reachable
      world.setReachable(reachable)
    } else if (one.do === 'write') world.files.set(one.id, one.content)
    else if (one.do === 'review') await review(one.id, one.by)
    else if (one.do === 'send' || one.do === 'askBypass') await send(one.id, one.by, one.do === 'askBypass')
    else if (one.do === 'smuggle') {
      const carried = await engine().emitCard({ ...cardOf(one.id, false), type: one.type }, { from: one.by })
      expect(carried).toMatchObject({ ok: false })
      seen.refused += 1
    } else if (one.do === 'bypass') {
      const waived = await engine().bypass(one.id, { by: 'owner', reason: 'because' })
      expect(waived.ok).toBe(known.has(one.id))
      const it = known.get(one.id)
      it?.waived.set(it.latest, world.clock.now() + 7 * day)
    } else if (one.do === 'answer') await answer(one.id, one.pass)
    else if (one.do === 'overrule') await overrule(one.id, one.pass)
    await look()
  }
  await world.close()

  async function review(deliverable: string, by: string): Promise<void> {
    if (!ids.includes(deliverable) || !world.files.has(deliverable)) return
    const brought = await world.bring(deliverable, by, deliverable)
    if (standsBehind.size === 0) standsBehind.add(policy)
    const reviewed = await reviewDeliverable(engine(), brought, never)
    const it = known.get(deliverable)
    if (it && it.producer !== by) {
      expect(reviewed).toMatchObject({ ok: false, error: { code: 'already_exists' } })
      seen.stolen += 1
    }
    if (!reviewed.ok) return
    expect(reviewed.value.digest, 'the answer is about what was brought').toBe(brought.digest)
    const latest = world.files.get(deliverable) ?? ''
    known.set(deliverable, {
      ...(it ?? { accepted: new Set(), turnedDown: new Set(), waived: new Map() }),
      producer: by,
      latest,
      policy,
    })
  }

  async function send(deliverable: string, from: string, bypass: boolean): Promise<void> {
    const sent = await engine().emitCard(cardOf(deliverable, bypass), { from, digestOf: world.digestOf })
    const it = known.get(deliverable)
    if (!sent.ok) {
      seen.refused += 1
      if (sent.code === 'policy_not_accepted') seen.unaccepted += 1
      return
    }
    expect(it, 'what was never reviewed').toBeDefined()
    if (!it) return
    const content = world.files.get(deliverable) ?? ''
    if (content === it.latest) expect(mayHave(it), `${JSON.stringify(sent.card)} of ${it.latest}`).toContain(sent.card.flag)
    else {
      // An earlier version: on a waived review of exactly those bytes alone.
      expect(sent.card.flag, 'what was swapped since').toBe('bypassed')
      expect(it.waived.get(content) ?? 0).toBeGreaterThan(world.clock.now())
    }
    expect(sent.card.digest).toBe(digestOfText(content))
    seen[sent.card.flag as 'pass'] += 1
    if (it.producer === 'qa') {
      expect(sent.card.judges, 'neither itself nor itself by another name').not.toContain('qa')
      expect(sent.card.judges).not.toContain('alias')
      seen.selfish += sent.card.judges.length
    }
    legitimate.set(sent.card.card, content)
  }

  async function answer(deliverable: string, accept: boolean): Promise<void> {
    const request = (await engine().requests()).find((open) => open.about === 'deliverable' && open.subject === deliverable)
    const it = known.get(deliverable)
    if (!request || !it) return
    const answered = await engine().answer({ request, answer: accept ? 'accept' : 'fail', by: 'owner', reason: 'because' })
    if (answered.ok && accept) it.waived.set(it.latest, world.clock.now() + 7 * day)
  }

  async function overrule(deliverable: string, pass: boolean): Promise<void> {
    const it = known.get(deliverable)
    const row = (await engine().deliverables()).find((one) => one.deliverable === deliverable)
    if (!it || !row) return
    const command = { type: 'overrule_task', outcome: pass ? 'pass' : 'fail', by: 'owner', reason: 'because' } as const
    const handled = await engine().handle(row.task, command, 'owner')
    if (!handled.ok) return
    const key = `${it.latest}@${it.policy}`
    const [to, from] = pass ? [it.accepted, it.turnedDown] : [it.turnedDown, it.accepted]
    to.add(key)
    from.delete(key)
  }

  /** The Inbox holds what was legitimately sent, and hands over exactly those bytes. */
  async function look(): Promise<void> {
    const cards = (await engine().inbox()).filter(({ type }) => type === 'report_ready')
    const pending = cards.filter(({ state }) => state === 'pending').map(({ deliverable }) => deliverable)
    expect(new Set(pending).size, 'one pending card a deliverable').toBe(pending.length)
    for (const card of cards) {
      const content = legitimate.get(card.card)
      expect(content, `card ${card.card} came some other way`).toBeDefined()
      expect(Buffer.from((await world.snapshots.read(card.snapshot as never, 'report.md')) ?? []).toString()).toBe(content)
      if (content !== undefined && world.files.get(card.deliverable ?? '') !== content) seen.swapped += 1
    }
  }
}

describe('a hostile producer', () => {
  it('never gets anything to the owner without a PASS, the owner’s word or a bypass for exactly those bytes', { timeout }, async () => {
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), fc.boolean(), play), {
      numRuns: Number(process.env.ASSAY_GATE_RUNS ?? 300),
    })
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0)
  })

  it('gets no stored PASS accepted for any other deliverable, digest, producer or policy', { timeout }, async () => {
    const world = openGateWorld({ bars })
    const [engine, other] = world.engines as [(typeof world.engines)[number], (typeof world.engines)[number]]
    for (const [index, content] of contents.entries()) {
      world.files.set(`r${index}`, content)
      expect(await reviewDeliverable(engine, await world.bring(`r${index}`, 'ana', `r${index}`), never)).toMatchObject({ ok: true })
    }
    const request = (deliverable: string): CardRequest => ({
      type: 'report_ready',
      title: 't',
      body: '',
      priority: 'normal',
      metadata: { deliverableId: deliverable },
    })
    let tried = 0
    for (const [index, content] of contents.entries()) {
      for (const [place, swapped] of contents.entries()) {
        world.files.set(`r${index}`, swapped)
        const sent = await engine.emitCard(request(`r${index}`), { from: 'ana', digestOf: world.digestOf })
        expect(sent.ok, `${content} as ${swapped}`).toBe(place === index && scoreOf(content) >= 60)
        expect((await other.emitCard(request(`r${index}`), { from: 'ana', digestOf: world.digestOf })).ok, 'under another policy').toBe(
          false,
        )
        expect((await engine.emitCard(request(`r${index}x`), { from: 'ana', digestOf: world.digestOf })).ok, 'under another name').toBe(
          false,
        )
        tried += 3
      }
      world.files.set(`r${index}`, content)
    }
    expect(tried).toBe(contents.length ** 2 * 3)
    const cards = (await engine.inbox()).filter(({ type }) => type === 'report_ready')
    expect(cards.map(({ deliverable }) => deliverable).sort()).toEqual(['r0', 'r1', 'r2'])
    await world.close()
  })

  it('asks the owner once for a bypass, is let through on the answer, and is obeyed only by a policy that says so', {
    timeout,
  }, async () => {
    const asking = (id: string): CardRequest => ({
      type: 'report_ready',
      title: 't',
      body: 'it is late',
      priority: 'normal',
      metadata: { deliverableId: id, evaluatorBypass: true },
    })
    for (const agentBypass of [false, true]) {
      const world = openGateWorld({ bars: [60], config: { gate: { agentBypass } } })
      const [engine] = world.engines as [(typeof world.engines)[number]]
      world.files.set('d1', 'text: score=20 bad')
      await reviewDeliverable(engine, await world.bring('d1', 'ana', 'd1'), never)
      const sent = [await engine.emitCard(asking('d1'), { from: 'ana' }), await engine.emitCard(asking('d1'), { from: 'ana' })]
      const granted = (await engine.events(0, 1000)).filter(({ type }) => type === 'bypass.granted')
      if (agentBypass) {
        expect(sent).toMatchObject([
          { ok: true, bypass: true, card: { flag: 'bypassed', bypass: { by: 'ana' } } },
          { ok: false, code: 'already_sent' },
        ])
        expect(granted[0]?.data).toMatchObject({ byAgent: true, by: 'ana' })
      } else {
        expect(sent).toMatchObject([
          { ok: false, code: 'bypass_refused' },
          { ok: false, code: 'bypass_refused' },
        ])
        expect(granted).toEqual([])
        const requests = await engine.requests()
        expect(requests).toMatchObject([{ request: 'd1/bypass#1', about: 'deliverable', answers: ['accept', 'fail'] }])
        for (const request of requests) await engine.answer({ request, answer: 'accept', by: 'owner', reason: 'print day' })
        expect(await engine.requests()).toEqual([])
        expect(await engine.emitCard({ ...asking('d1'), metadata: { deliverableId: 'd1' } }, { from: 'ana' })).toMatchObject({
          ok: true,
          card: { flag: 'bypassed', bypass: { by: 'owner', reason: 'print day' } },
        })
      }
      await world.close()
    }
  })

  it('does not get an id that another producer uses, not even at the same moment', { timeout }, async () => {
    const world = openGateWorld({ bars })
    const [engine] = world.engines as [(typeof world.engines)[number]]
    world.files.set('mine', contents[0] ?? '')
    world.files.set('yours', contents[1] ?? '')
    const brought = [await world.bring('d1', 'ana', 'mine'), await world.bring('d1', 'ben', 'yours')]
    const ended = await Promise.all(brought.map((one) => reviewDeliverable(engine, one, never)))
    expect(ended.map(({ ok }) => ok).sort()).toEqual([false, true])
    expect(ended.find(({ ok }) => !ok)).toMatchObject({ error: { code: 'already_exists' } })
    const versions = (await engine.events(0, 1000)).filter(({ type }) => type === 'deliverable.submitted')
    expect(versions).toHaveLength(1)
    await world.close()
  })

  it('is told when a stored snapshot is not what the card hands over', { timeout }, async () => {
    const world = openGateWorld({ bars })
    const [engine] = world.engines as [(typeof world.engines)[number]]
    world.files.set('d1', contents[0] ?? '')
    const brought = await world.bring('d1', 'ana', 'd1')
    const card: Card = {
      card: 'c',
      type: 'report_ready',
      title: '',
      body: '',
      priority: 'normal',
      from: 'ana',
      judges: [],
      snapshot: brought.snapshot,
    }
    expect(await exportCard(engine.parts, { ...card, digest: digestOfText('another') }, '/nowhere')).toMatchObject({ ok: false })
    expect(
      await exportCard(engine.parts, { ...card, snapshot: digestOfText('nothing'), digest: brought.digest }, '/nowhere'),
    ).toMatchObject({ ok: false })
    const { snapshot: _none, ...bare } = card
    expect(await exportCard(engine.parts, bare, '/nowhere')).toMatchObject({ ok: false, error: { code: 'not_found' } })
    await world.close()
  })
})
