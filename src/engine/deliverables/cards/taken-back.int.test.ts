import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../contract/work.ts'
import type { AppendRequest, Journal } from '../../../ports/journal.ts'
import { benchOf, racingJournal, stageMission } from '../../../testing/engine/gated-mission.ts'
import { handOver } from '../hand-over.ts'
import { handCard } from '../export.ts'

const timeout = 120_000
const stop = new AbortController().signal
const text = (id: string) => ({ kind: 'text' as const, id })

/** `b` rests on `a`; each hands over what it printed. */
async function twoReports(journal?: Journal) {
  const scene = await stageMission({
    tasks: { a: { deliverable: text('da') }, b: { dependsOn: ['a'], deliverable: text('db') } },
    ...(journal && { journal }),
  })
  await scene.run()
  const states = async (id: string) =>
    (await scene.engine.inbox()).filter(({ deliverable }) => deliverable === id).map(({ type, state, flag }) => `${type} ${state} ${flag}`)
  return { ...scene, states }
}

describe('the card of accepted work', () => {
  it('is over with the very append that takes its acceptance away', { timeout }, async () => {
    const appends: string[][] = []
    const scene = await twoReports(
      racingJournal(async ({ streams }) => void appends.push(streams.flatMap(({ events }) => events.map(({ type }) => type)))),
    )
    expect([await scene.states('da'), await scene.states('db')]).toEqual([['report_ready pending pass'], ['report_ready pending pass']])
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    expect(appends.filter((types) => types.includes('task.reopened'))).toEqual([expect.arrayContaining(['card.expired'])])
    expect(await scene.states('da')).toEqual(['report_ready expired pass'])
    await scene.run()
    expect(appends.flat().filter((type) => type === 'card.expired')).toHaveLength(2)
  })

  it('that was sent while the decision was made does not stay', { timeout }, async () => {
    let sends: (() => Promise<unknown>) | undefined
    const journal = racingJournal(async ({ streams }: AppendRequest) => {
      if (!streams.some(({ events }) => events.some(({ type }) => type === 'task.reopened')) || !sends) return
      const send = sends
      sends = undefined
      await send()
    })
    const scene = await twoReports(journal)
    const [first] = await scene.engine.inbox()
    await scene.engine.closeCard(first?.card ?? '', { state: 'handled', by: 'owner', reason: '' })
    const deliverable = first?.deliverable ?? ''
    const from = (await scene.engine.deliverables()).find((row) => row.deliverable === deliverable)?.producer ?? ''
    let fired = false
    sends = async () => {
      const request = { type: 'report_ready' as const, title: 'again', body: '', priority: 'normal' as const }
      fired = (await scene.engine.emitCard({ ...request, metadata: { deliverableId: deliverable } }, { from, card: 'late' })).ok
    }
    expect(await scene.overrule(deliverable.slice(1))).toMatchObject({ ok: true })
    expect(fired, 'the card was sent in between').toBe(true)
    expect(await scene.engine.card('late')).toMatchObject({ state: 'expired' })
  })

  it('comes back, once, where what it rests on lands as it was; until then nothing is handed over', { timeout }, async () => {
    const scene = await twoReports()
    const [card] = (await scene.engine.inbox()).filter(({ deliverable }) => deliverable === 'db')
    if (!card) throw new Error('there is no card')
    const { handle } = scene.engine
    const move = (command: object) => handle.call(scene.engine, 'plan-1/b', command as never, 'runtime')
    expect(await move({ type: 'input_reopened', task: 'plan-1/a' })).toMatchObject({ ok: true, state: { status: 'held' } })
    expect(await scene.states('db')).toEqual(['report_ready expired pass'])
    const asked = (await scene.engine.inbox()).filter(({ about }) => about === 'task/plan-1/b')
    expect(asked.map(({ state, flag }) => [state, flag])).toEqual([['pending', undefined]])
    const over = { ok: false, error: { message: expect.stringContaining('plan-1/b is held, no longer accepted') } }
    expect(await handCard(scene.engine, card, '/nowhere'), 'whatever the card says').toMatchObject(over)

    const [input] = (await scene.engine.task('plan-1/b'))?.inputs ?? []
    expect(await move({ type: 'input_landed', input, nonce: 'n' })).toMatchObject({ ok: true, state: { status: 'done' } })
    await scene.run()
    expect((await scene.states('db')).sort()).toEqual(['report_ready expired pass', 'report_ready pending pass'])
    const bench = benchOf(scene)
    const again = { key: 'again', payload: { task: 'plan-1/b', again: true } } as unknown as Lease
    await handOver(bench, again, stop)
    expect((await scene.states('db')).sort(), 'one that stands is not sent twice').toEqual([
      'report_ready expired pass',
      'report_ready pending pass',
    ])
  })
})

it('work that other writers are always faster than comes back', { timeout }, async () => {
  let always = false
  let lost = 0
  const scene = await twoReports(
    racingJournal(async ({ streams }, journal) => {
      const card = streams.find(({ events }) => events.some(({ type }) => type === 'card.emitted'))
      if (!always || !card) return
      lost += 1
      // Another process moves something that the append rests on.
      const rested = streams.find(({ stream }) => stream.startsWith('deliverable/')) ?? card
      const expected = await journal.head(rested.stream)
      const looked = { card: `other-${lost}`, by: 'somebody', bypass: false }
      const events = [{ type: 'release.allowed', v: 1, data: looked }]
      await journal.append({
        streams: [{ stream: rested.stream, expected, events }],
        meta: { at: new Date().toISOString(), actor: 'other' },
      })
    }),
  )
  const given: string[] = []
  const journal = new Proxy(scene.parts.journal, {
    get: (target, key: keyof Journal) => {
      if (key === 'release' || key === 'complete') return async () => void given.push(key)
      const member = target[key] as (...args: never[]) => unknown
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const bench = benchOf({ parts: { ...scene.parts, journal } })
  const lease = { key: 'later', payload: { task: 'plan-1/b' } } as unknown as Lease
  always = true
  await handOver(bench, lease, stop)
  expect(lost, 'the races were lost').toBeGreaterThan(5)
  expect(given).toEqual(['release'])
  always = false
  await handOver(bench, lease, stop)
  expect(given).toEqual(['release', 'complete'])
  expect((await scene.states('db')).filter((one) => one.includes('pending'))).toEqual(['report_ready pending pass'])
})
