import { z } from 'zod'

/** Rows of one page where nothing is said, and at most. */
const usual = 100
const most = 500

/** What every list takes. */
export const Paging = {
  limit: z.coerce.number().int().min(1).max(most).default(usual).describe(`Most rows of the page; at most ${most}.`),
  cursor: z.string().max(2000).optional().describe('`next` of the page before.'),
}

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: z.array(item), next: z.string().nullable().describe('Cursor of the next page; null where this is the last.') })

/** `cursor` is the key that the page before ended at; whoever asks over HTTP has it sealed (`cursor.ts`). */
export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

export interface Page<T> {
  items: T[]
  next: string | null
}

/** A page of rows that are in order of `key`, ascending or descending. */
export function pageOf<T>(rows: readonly T[], key: (row: T) => string, { limit, cursor: after }: PageQuery, newestFirst = false): Page<T> {
  const rest = after === undefined ? rows : rows.filter((row) => (newestFirst ? key(row) < after : key(row) > after))
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rest.length > limit && last !== undefined ? key(last) : null }
}

/** Rows looked at for one page; where few of them are wanted, the next page goes on from there. */
const mostScanned = 20_000

/** A page of the wanted rows of something too large to hold: read piece by piece, in the order of keys. */
export async function scanPage<T>(
  read: (after: string | undefined, limit: number) => Promise<{ key: string; row: T }[]>,
  wanted: (row: T) => boolean,
  { limit, cursor }: PageQuery,
): Promise<Page<T>> {
  const items: T[] = []
  let after = cursor
  let scanned = 0
  // Mostly the first rows are wanted; where they are not, the look goes on in larger pieces.
  for (let piece = limit + 1; scanned < mostScanned; piece = most) {
    const rows = await read(after, piece)
    for (const { key, row } of rows) {
      if (wanted(row)) {
        if (items.length === limit) return { items, next: after ?? '' }
        items.push(row)
      }
      after = key
    }
    if (rows.length < piece) return { items, next: null }
    scanned += rows.length
  }
  return { items, next: after ?? '' }
}
