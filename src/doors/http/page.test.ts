import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Page, pageOf, scanPage } from './page.ts'

const sorted = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 60 }).map((keys) => keys.sort())

/** Every page after the other, as a client reads them. */
async function readAll(read: (cursor: string | undefined) => Page<string> | Promise<Page<string>>): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  for (;;) {
    const { items, next } = await read(cursor)
    seen.push(...items)
    if (next === null) return seen
    cursor = next
  }
}

describe('pages', () => {
  it('come to the whole list, in order, whatever the limit', async () => {
    await fc.assert(
      fc.asyncProperty(sorted, fc.integer({ min: 1, max: 20 }), fc.boolean(), async (keys, limit, newestFirst) => {
        const rows = newestFirst ? [...keys].reverse() : keys
        expect(await readAll((cursor) => pageOf(rows, (row) => row, { limit, cursor }, newestFirst))).toEqual(rows)
      }),
    )
  })

  it('come to exactly what is wanted of something that is read piece by piece', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1300 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 40 }),
        async (total, limit, every) => {
          const keys = Array.from({ length: total }, (_, index) => String(index).padStart(6, '0'))
          const read = async (after: string | undefined, most: number) =>
            keys
              .filter((key) => after === undefined || key > after)
              .slice(0, most)
              .map((key) => ({ key, row: key }))
          const wanted = (row: string) => Number(row) % every === 0
          expect(await readAll((cursor) => scanPage(read, wanted, { limit, cursor }))).toEqual(keys.filter(wanted))
        },
      ),
      { numRuns: 30 },
    )
  })
})
