import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../contract/work.ts'
import type { Journal } from '../../../ports/journal.ts'
import type { JournalAdapter } from '../adapters.ts'
import { JournalModel } from './reference.ts'
import { happened, lastValues, meta, stoppedClock, total, workOf } from '../samples.ts'

const stream = fc.constantFrom('a', 'b', 'c')
const part = fc.record({
  stream,
  offset: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) }),
  count: fc.nat(2),
})
const enqueue = fc.record({
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
  kind: fc.constantFrom('dig', 'rake'),
  scope: fc.constantFrom('x', 'y'),
  priority: fc.nat(2),
  delay: fc.constantFrom(0, 50),
})
/** Which of the leases given out so far, the newest first; stale ones included. */
const lease = fc.nat(5)
const step = fc.oneof(
  fc.record({
    do: fc.constant('append' as const),
    parts: fc.array(part, { maxLength: 3 }),
    enqueue: fc.array(enqueue, { maxLength: 2 }),
    settles: fc.option(lease, { nil: undefined }),
  }),
  fc.record({
    do: fc.constant('claim' as const),
    owner: fc.constantFrom('one', 'two'),
    limit: fc.integer({ min: 1, max: 3 }),
    kinds: fc.option(fc.constant<string[]>(['dig']), { nil: undefined }),
    scopes: fc.option(fc.constant<string[]>(['y']), { nil: undefined }),
  }),
  fc.record({ do: fc.constantFrom('beat' as const, 'release' as const, 'complete' as const), lease }),
  fc.record({ do: fc.constant('reclaim' as const), owner: fc.constantFrom('one', 'two') }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 30, 100) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Takes one step on the journal and on the model, and compares what each says. */
async function take(
  step: Step,
  journal: Journal,
  model: JournalModel,
  clock: ReturnType<typeof stoppedClock>,
  leases: Lease[],
): Promise<void> {
  switch (step.do) {
    case 'append': {
      const settles = step.settles === undefined ? undefined : leases.at(-1 - step.settles)
      const streams = step.parts.map(({ stream, offset, count }, index) => ({
        stream,
        expected: Math.max(0, model.head(stream) + offset),
        events: Array.from({ length: count }, (_, n) => happened(`${index}/${n}`)),
      }))
      const work = step.enqueue.map(({ delay, ...more }) => workOf(more.key, { ...more, delayMs: delay }))
      const request = { streams, enqueue: work, meta, ...(settles === undefined ? {} : { settles }) }
      const expected = model.append(request, clock.now())
      const result = await journal.append(request)
      expect(result.ok ? { ok: true, events: result.events.map(({ stream, version }) => [stream, version]) } : result).toEqual(expected)
      return
    }
    case 'claim': {
      const { owner, limit, kinds, scopes } = step
      const taken = await journal.claim({ owner, limit, leaseMs: 60, ...(kinds ? { kinds } : {}), ...(scopes ? { scopes } : {}) })
      expect(taken.map(({ key, claims }) => ({ key, claims }))).toEqual(
        model.claim({ limit, kinds, scopes }, clock.now(), clock.now() + 60, taken),
      )
      leases.push(...taken)
      return
    }
    case 'reclaim':
      expect(await journal.reclaim((owner) => owner === step.owner)).toBe(model.reclaim(step.owner, clock.now()))
      return
    case 'pass':
      clock.pass(step.ms)
      return
    default: {
      const held = leases.at(-1 - step.lease)
      if (held === undefined) return
      const expected = model[step.do](held, clock.now() + 40)
      expect(await (step.do === 'complete' ? journal.complete(held) : journal[step.do](held, 40))).toBe(expected)
    }
  }
}

export function modelled(adapter: JournalAdapter): void {
  const opened = async (use: (journal: Journal, clock: ReturnType<typeof stoppedClock>) => Promise<void>) => {
    const place = await adapter.newPlace()
    const clock = stoppedClock()
    const journal = await adapter.open(place.name, { views: [lastValues, total], clock })
    try {
      await use(journal, clock)
    } finally {
      await journal.close()
      await place.remove()
    }
  }

  describe('against a model', () => {
    it('answers every sequence of requests as the model does', { timeout: 300_000 }, async () => {
      const sequence = fc.array(step, { minLength: 5, maxLength: 40 })
      const property = fc.asyncProperty(sequence, (steps) =>
        opened(async (journal, clock) => {
          const model = new JournalModel()
          const leases: Lease[] = []
          for (const step of steps) await take(step, journal, model, clock, leases)
          const events = await journal.read(0, 10_000)
          expect(events.map(({ stream, version }) => [stream, version])).toEqual(model.log)
          expect(await journal.workCount()).toEqual(model.counts(clock.now()))
          expect(await journal.verify()).toEqual({ events: model.log.length, streams: model.streams, breaks: [] })
          expect(await journal.rebuildViews()).toEqual([])
        }),
      )
      await fc.assert(property, { numRuns: 80 })
    })

    it('loses and doubles nothing when writers interleave', { timeout: 300_000 }, async () => {
      const writers = fc.array(fc.array(stream, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 6 })
      const property = fc.asyncProperty(writers, (lists) =>
        opened(async (journal) => {
          await Promise.all(lists.map((targets, writer) => writeAll(journal, writer, targets)))
          const events = await journal.read(0, 10_000)
          for (const [writer, targets] of lists.entries()) {
            const own = events.filter(({ data }) => (data as { n: [number, number] }).n[0] === writer)
            expect(own.map(({ stream, data }) => [stream, (data as { n: [number, number] }).n[1]])).toEqual(
              targets.map((target, index) => [target, index]),
            )
          }
          expect(await journal.verify()).toEqual({ events: lists.flat().length, streams: new Set(lists.flat()).size, breaks: [] })
        }),
      )
      await fc.assert(property, { numRuns: 40 })
    })
  })
}

/** Appends to one stream after the other, again whenever somebody else was first. */
async function writeAll(journal: Journal, writer: number, targets: string[]): Promise<void> {
  for (const [index, target] of targets.entries()) {
    for (;;) {
      const expected = await journal.head(target)
      const result = await journal.append({ streams: [{ stream: target, expected, events: [happened([writer, index])] }], meta })
      if (result.ok) break
    }
  }
}
