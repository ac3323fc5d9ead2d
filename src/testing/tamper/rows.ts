import { either, flipped, type Mutation, names, run } from './mutation.ts'

const insertCopy = `INSERT INTO events SELECT (SELECT max(position) + 1 FROM events), stream,
  (SELECT max(version) + 1 FROM events AS same WHERE same.stream = events.stream), prev, hash, place, body FROM events WHERE position = ?`

/** Edits of stored rows by somebody who does not recompute hashes. */
export const rowMutations: Readonly<Record<string, Mutation>> = {
  'event: character flipped': ({ db, dice, events }) => {
    const event = dice.one(events)
    const column = dice.one(['stream', 'prev', 'hash', 'place', 'body'])
    const { text } = db.prepare(`SELECT ${column} AS text FROM events WHERE position = ?`).get(event.position) as { text: string }
    run(db, `UPDATE events SET ${column} = ? WHERE position = ?`, flipped(text, dice), event.position)
    return { what: `${column} of ${event.position}`, named: names.event(event) }
  },
  'event: deleted': ({ db, dice, events }) => {
    const event = dice.one(events)
    run(db, 'DELETE FROM events WHERE position = ?', event.position)
    return { what: `position ${event.position}`, named: either(names.event(event), names.journal) }
  },
  'event: duplicated': ({ db, dice, events }) => {
    const event = dice.one(events)
    run(db, insertCopy, event.position)
    return { what: `position ${event.position}`, named: either(names.event(event), names.journal) }
  },
  'event: version changed': ({ db, dice, events }) => {
    const event = dice.one(events)
    run(db, 'UPDATE events SET version = ? WHERE position = ?', 1000 + dice.below(1000), event.position)
    return { what: `position ${event.position}`, named: names.event(event) }
  },
  'events: bodies swapped': ({ db, dice, events }) => {
    const [a, b] = dice.two(events)
    if (a.body === b.body) throw new Error('two events are the same')
    run(db, 'UPDATE events SET body = ? WHERE position = ?', b.body, a.position)
    run(db, 'UPDATE events SET body = ? WHERE position = ?', a.body, b.position)
    return { what: `${a.position} and ${b.position}`, named: either(names.event(a), names.event(b)) }
  },
  'events: positions swapped': ({ db, dice, events }) => {
    const [a, b] = dice.two(events)
    run(db, 'UPDATE events SET position = -5 WHERE position = ?', a.position)
    run(db, 'UPDATE events SET position = ? WHERE position = ?', a.position, b.position)
    run(db, 'UPDATE events SET position = ? WHERE position = -5', b.position)
    return { what: `${a.position} and ${b.position}`, named: either(names.event(a), names.event(b)) }
  },
  'events: tail cut': ({ db, dice, events }) => {
    const keep = dice.below(events.length)
    run(db, 'DELETE FROM events WHERE position > ?', keep)
    return { what: `after ${keep}`, named: either(names.streams(...events.slice(keep).map(({ stream }) => stream)), names.journal) }
  },
  'head: changed': ({ db, dice, events }) => {
    const { stream } = dice.one(events)
    const { hash } = db.prepare('SELECT hash FROM streams WHERE stream = ?').get(stream) as { hash: string }
    run(db, 'UPDATE streams SET hash = ? WHERE stream = ?', flipped(hash, dice), stream)
    return { what: stream, named: names.streams(stream) }
  },
  'head: moved back': ({ db, dice, events }) => {
    const { stream } = dice.one(events)
    run(db, 'UPDATE streams SET version = version - 1 WHERE stream = ?', stream)
    return { what: stream, named: names.streams(stream) }
  },
  'head: deleted': ({ db, dice, events }) => {
    const { stream } = dice.one(events)
    run(db, 'DELETE FROM streams WHERE stream = ?', stream)
    return { what: stream, named: names.streams(stream) }
  },
  'journal: its end changed': ({ db, dice, events }) => {
    if (dice.below(2) === 0) run(db, 'UPDATE journal SET position = ?', dice.below(events.length))
    else run(db, 'UPDATE journal SET place = ?', '1'.repeat(64))
    return { what: 'position or place', named: names.journal }
  },
}

interface ViewRow {
  view: string
  key: string
  row: string
}

const viewRows = 'SELECT view, key, row FROM view_rows ORDER BY view, key'

/** Edits of the rows that people are shown. */
export const viewMutations: Readonly<Record<string, Mutation>> = {
  'view row: character flipped': ({ db, dice }) => {
    const { view, key, row } = dice.one(db.prepare(viewRows).all() as unknown as ViewRow[])
    run(db, 'UPDATE view_rows SET row = ? WHERE view = ? AND key = ?', flipped(row, dice), view, key)
    return { what: `${view} ${key}`, named: names.view(view, key) }
  },
  'view row: deleted': ({ db, dice }) => {
    const { view, key } = dice.one(db.prepare(viewRows).all() as unknown as ViewRow[])
    run(db, 'DELETE FROM view_rows WHERE view = ? AND key = ?', view, key)
    return { what: `${view} ${key}`, named: names.view(view, key) }
  },
  'view row: duplicated': ({ db, dice }) => {
    const { view, key, row } = dice.one(db.prepare(viewRows).all() as unknown as ViewRow[])
    run(db, 'INSERT INTO view_rows (view, key, row) VALUES (?, ?, ?)', view, `${key}-copy`, row)
    return { what: `${view} ${key}`, named: names.view(view, `${key}-copy`) }
  },
  'view rows: swapped': ({ db, dice }) => {
    const [a, b] = dice.two(db.prepare(viewRows).all() as unknown as ViewRow[])
    if (a.row === b.row) run(db, 'UPDATE view_rows SET row = ? WHERE view = ? AND key = ?', flipped(a.row, dice), a.view, a.key)
    else {
      run(db, 'UPDATE view_rows SET row = ? WHERE view = ? AND key = ?', b.row, a.view, a.key)
      run(db, 'UPDATE view_rows SET row = ? WHERE view = ? AND key = ?', a.row, b.view, b.key)
    }
    return { what: `${a.view} ${a.key} and ${b.view} ${b.key}`, named: names.view(a.view, a.key) }
  },
}
