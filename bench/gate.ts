/**
 * What the gate to the owner costs, with a full inbox. Run: `npx node bench/gate.ts [--size small|full] [--dir folder]`.
 * The floor is one durable append of one event to the same journal; contenders take turns. Processor time is printed beside the time on the clock:
 * it stays comparable on a machine that does other things.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import type { CardRequest } from '../src/contract/deliverable/deliverable.ts'
import { reviewDeliverable } from '../src/engine/deliverables/review.ts'
import { cardStream } from '../src/engine/streams.ts'
import { engineViews } from '../src/engine/views/tasks.ts'
import type { Journal } from '../src/ports/journal.ts'
import { eyesOf } from '../src/testing/engine/brains.ts'
import { openWorkshop } from '../src/testing/engine/workshop.ts'
import { inTurns, median, printTable, ratio, timed, timedWithCpu } from './measure.ts'

const sizes = {
  small: { cards: 500, deliverables: 5, sends: 5, rounds: 3 },
  full: { cards: 10_000, deliverables: 50, sends: 50, rounds: 5 },
}
const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const size = sizes[flags.size === 'small' ? 'small' : 'full']

const folder = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-gate-'))
const journal = await openSqliteJournal({ path: join(folder, 'assay.db'), views: engineViews })
const { engine } = openWorkshop({
  config: {
    brains: { eyes: { kind: 'scripted', file: 'eyes.yaml' } },
    agents: { qa: { role: 'reviewer', brain: 'eyes' } },
    review: { panel: { size: 1, quorum: 1 } },
  },
  brains: { eyes: eyesOf(({ task }) => (task.title.startsWith('bad') ? 'No.\nSCORE: 20' : 'Yes.\nSCORE: 90')) },
  journal,
  folder,
})

const request = (deliverable: string): CardRequest => ({
  type: 'report_ready',
  title: deliverable,
  body: '',
  priority: 'normal',
  metadata: { deliverableId: deliverable },
})
const at = () => new Date().toISOString()

/** Cards that are there already, written as the gate writes them but many at a time. */
async function fillInbox(into: Journal, count: number): Promise<void> {
  const perAppend = 500
  for (let from = 0; from < count; from += perAppend) {
    const streams = Array.from({ length: Math.min(perAppend, count - from) }, (_, index) => {
      const card = `filler-${from + index}`
      const data = { card, type: 'milestone', title: card, body: '', priority: 'normal', from: 'bench', judges: [] }
      return { stream: cardStream(card), expected: 0, events: [{ type: 'card.emitted', data }] }
    })
    const appended = await into.append({ streams: streams as never, meta: { at: at(), actor: 'bench' }, enqueue: [] })
    if (!appended.ok) throw new Error('the inbox could not be filled')
  }
}

async function bringAll(): Promise<void> {
  const { snapshots } = engine.parts
  for (let index = 0; index < size.deliverables; index += 1) {
    for (const title of [`good-${index}`, `bad-${index}`]) {
      const bytes = Buffer.from(title)
      const digest = await snapshots.putBytes(bytes)
      const snapshot = await snapshots.compose([{ path: 'a.txt', size: bytes.length, digest, executable: false }])
      const brought = {
        deliverable: title,
        kind: 'file' as const,
        title,
        producer: 'ana',
        snapshot,
        base: await snapshots.compose([]),
        digest,
      }
      const reviewed = await reviewDeliverable(engine, brought, new AbortController().signal)
      if (!reviewed.ok) throw new Error(reviewed.error.message)
    }
  }
}

/** Processor time of each round, by contender. */
const processor = { floor: [] as number[], refusing: [] as number[], releasing: [] as number[] }

async function counted(who: keyof typeof processor, work: () => Promise<void>): Promise<number> {
  const { ms, cpuMs } = await timedWithCpu(work)
  processor[who].push(cpuMs)
  return ms
}

const perSecond = (ms: number): number => (size.sends * 1000) / ms

/** Sends in a row: every one of them decided, recorded and durable before the next. What earlier rounds sent is dealt with first. */
const sending = (kind: 'good' | 'bad') => async () => {
  for (const { card, state, type } of await engine.inbox())
    if (type === 'report_ready' && state === 'pending') await engine.closeCard(card, { state: 'handled', by: 'bench', reason: '' })
  return counted(kind === 'good' ? 'releasing' : 'refusing', async () => {
    for (let index = 0; index < size.sends; index += 1) {
      const sent = await engine.emitCard(request(`${kind}-${index % size.deliverables}`), { from: 'ana' })
      if (sent.ok !== (kind === 'good')) throw new Error(`a ${kind} deliverable: ${JSON.stringify(sent)}`)
    }
  })
}

let floors = 0
const floor = () =>
  counted('floor', async () => {
    for (let index = 0; index < size.sends; index += 1) {
      floors += 1
      const card = `floor-${floors}`
      const data = { card, by: 'bench', bypass: false }
      const streams = [{ stream: `bench/${card}`, expected: 0, events: [{ type: 'release.allowed', data }] }]
      const appended = await journal.append({ streams: streams as never, meta: { at: at(), actor: 'bench' }, enqueue: [] })
      if (!appended.ok) throw new Error('the floor could not be appended')
    }
  })

try {
  await bringAll()
  await fillInbox(journal, size.cards)
  const cost = await inTurns(size.rounds, {
    floor,
    refusing: sending('bad'),
    releasing: sending('good'),
    listing: () => timed(() => engine.inbox()),
  })
  const row = (name: string, who: keyof typeof processor) => [
    name,
    cost[who] / size.sends,
    perSecond(cost[who]),
    ratio(cost[who], cost.floor),
    median(processor[who]) / size.sends,
    ratio(median(processor[who]), median(processor.floor)),
  ]
  printTable(
    `${size.sends} cards in a row, durable, with ${size.cards.toLocaleString('en')} cards in the inbox`,
    ['', 'ms each', 'a second', 'against floor', 'processor ms', 'against floor'],
    [
      row('floor: one durable append', 'floor'),
      row('gate check, refused and recorded', 'refusing'),
      row('gate check, card released', 'releasing'),
      ['the whole inbox listed', cost.listing, 1000 / cost.listing, '', '', ''],
    ],
  )
} finally {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
}
