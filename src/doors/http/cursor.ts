import { sha256Hex } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import { refuse, type Refused } from './answer/problem.ts'
import type { Who } from './authority/who.ts'

/** What a list is told by: who asks, where, and for which of its rows. How many come at once does not matter. */
export function listName({ scope, name }: Who, pathname: string, query: Readonly<Record<string, string>>): string {
  const filters = Object.entries(query).filter(([key]) => key !== 'limit' && key !== 'cursor')
  return JSON.stringify([scope, name, pathname, filters.sort(([one], [other]) => (one < other ? -1 : 1))])
}

const seal = (list: string, key: string): string => sha256Hex(JSON.stringify([list, key])).slice(0, 16)

/** Where a page ended, so that the next one of the same list can go on from there. */
export const cursorAt = (list: string, key: string): string => `${seal(list, key)}${Buffer.from(key).toString('base64url')}`

/** The key that a cursor stands for. One that this list did not give would skip rows without a word. */
export function keyAt(list: string, cursor: string): Result<string, Refused> {
  const key = Buffer.from(cursor.slice(16), 'base64url').toString()
  if (cursorAt(list, key) === cursor) return { ok: true, value: key }
  const detail = 'the cursor is none that this list gave: take `next` of its page before, with the same filters'
  return { ok: false, error: refuse('invalid_request', detail, { errors: [{ pointer: 'query/cursor', detail }] }) }
}
