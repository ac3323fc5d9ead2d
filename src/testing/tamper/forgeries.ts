import type { DatabaseSync } from 'node:sqlite'
import { canonicalJson } from '../../contract/canonical.ts'
import { eventHash, firstPlace, genesisOf, placeHash } from '../../contract/events/links.ts'
import { either, type EventRow, type Mutation, names } from './mutation.ts'

/** Writes a journal anew from these events with every hash right, views left to be folded again: what only a checkpoint tells from the truth. */
function forge(db: DatabaseSync, events: readonly Pick<EventRow, 'stream' | 'body'>[]): void {
  db.exec("DELETE FROM events; DELETE FROM streams; DELETE FROM view_rows; UPDATE journal SET views = '{}'")
  const heads = new Map<string, { version: number; hash: string }>()
  const insert = db.prepare('INSERT INTO events (position, stream, version, prev, hash, place, body) VALUES (?, ?, ?, ?, ?, ?, ?)')
  let place = firstPlace
  for (const [index, { stream, body }] of events.entries()) {
    const before = heads.get(stream) ?? { version: 0, hash: genesisOf(stream) }
    const head = { version: before.version + 1, hash: eventHash(before.hash, stream, before.version + 1, body) }
    place = placeHash(place, index + 1, head.hash)
    insert.run(index + 1, stream, head.version, before.hash, head.hash, place, body)
    heads.set(stream, head)
  }
  for (const [stream, { version, hash }] of heads) db.prepare('INSERT INTO streams VALUES (?, ?, ?)').run(stream, version, hash)
  db.prepare('UPDATE journal SET position = ?, place = ?').run(events.length, place)
}

/** What somebody does who knows the format and has the journal to themselves. */
export const forgeries: Readonly<Record<string, Mutation>> = {
  'forged: an event rewritten, all hashes right': ({ db, dice, events }) => {
    const event = dice.one(events)
    const body = JSON.parse(event.body) as { meta: { actor: string } }
    body.meta.actor = 'somebody-else'
    forge(
      db,
      events.map((one) => (one === event ? { ...one, body: canonicalJson(body) } : one)),
    )
    return { what: `position ${event.position}`, named: names.streams(event.stream) }
  },
  'forged: the tail cut, all hashes right': ({ db, dice, events }) => {
    const keep = dice.below(events.length)
    forge(db, events.slice(0, keep))
    return { what: `after ${keep}`, named: either(names.streams(...events.slice(keep).map(({ stream }) => stream))) }
  },
  'forged: a whole stream gone, all hashes right': ({ db, dice, events }) => {
    const { stream } = dice.one(events)
    forge(
      db,
      events.filter((one) => one.stream !== stream),
    )
    return { what: stream, named: names.streams(stream) }
  },
  'forged: an event put in, all hashes right': ({ db, dice, events }) => {
    const event = dice.one(events)
    forge(
      db,
      events.flatMap((one) => (one === event ? [one, one] : [one])),
    )
    return { what: `position ${event.position}`, named: names.streams(event.stream) }
  },
  'forged: two events of different streams exchanged in order, all hashes right': ({ db, dice, events }) => {
    const at = dice.below(events.length - 1)
    const order = [...events]
    const from = order.findIndex((one, index) => index > at % (events.length >> 1) && order[index - 1]?.stream !== one.stream)
    const [a, b] = [order[from - 1], order[from]]
    if (!a || !b) throw new Error('the journal has one stream alone')
    order[from - 1] = b
    order[from] = a
    forge(db, order)
    // The heads agree, so the checkpoint can only tell that the order up to its position is another one.
    const last = events.at(-1)
    return { what: `${a.position} and ${b.position}`, named: (found) => found.position === last?.position }
  },
}
