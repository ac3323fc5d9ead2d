import type { DatabaseSync } from 'node:sqlite'
import type { BrokenLink } from '../../contract/chain.ts'
import type { Dice } from './dice.ts'

/** A row of `events` as it is stored. */
export interface EventRow {
  position: number
  stream: string
  version: number
  body: string
}

/** What a mutation may choose from. */
export interface Scene {
  /** A copy of a home, free to be damaged. */
  home: string
  db: DatabaseSync
  dice: Dice
  events: readonly EventRow[]
  /** Hex names of stored objects that have a file of their own. */
  objects: readonly string[]
  /** Packs of many objects, and the names of those that they hold. */
  packs: readonly string[]
  packed: readonly string[]
  /** Where an object lies. */
  placeOf(hex: string): string
}

/** What was done, and what a break must say for it to count as named. */
export interface Done {
  what: string
  named: (found: BrokenLink) => boolean
}

export type Mutation = (scene: Scene) => Done

const wholeJournal = '(journal)'

export const names = {
  /** One of these streams. */
  streams:
    (...streams: string[]) =>
    (found: BrokenLink) =>
      streams.includes(found.stream),
  /** The event's place, by stream or by position; a gap is seen at what follows it. */
  event:
    ({ stream, position }: EventRow) =>
    (found: BrokenLink) =>
      found.stream === stream || found.position === position || found.position === position + 1,
  view: (view: string, key: string) => (found: BrokenLink) => found.stream === `view ${view}, row ${key}`,
  object:
    (...hexes: string[]) =>
    (found: BrokenLink) =>
      hexes.some((hex) => found.stream.includes(hex) || found.problem.includes(hex)),
  journal: (found: BrokenLink) => found.stream === wholeJournal,
}

export const either =
  (...ways: Done['named'][]) =>
  (found: BrokenLink) =>
    ways.some((way) => way(found))

/** Another text of the same length: one character is another one. */
export function flipped(text: string, dice: Dice): string {
  const at = dice.below(text.length)
  const other = text.charCodeAt(at) === 0x61 ? 'b' : 'a'
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`
}

export function run(db: DatabaseSync, sql: string, ...values: (string | number)[]): void {
  if (db.prepare(sql).run(...values).changes === 0) throw new Error(`the mutation did nothing: ${sql}`)
}
