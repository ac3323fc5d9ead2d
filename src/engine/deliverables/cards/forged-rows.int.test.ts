import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteJournal } from '../../../adapters/sqlite/journal.ts'
import { makeHome } from '../../../testing/tamper/home.ts'
import { auditHome } from '../../../testing/tamper/trial.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { cardStream } from '../../streams.ts'
import { engineViews } from '../../views/tasks.ts'
import { inboxCard, inboxCards, provenCards } from '../inbox.ts'
import { withheldOf } from '../withheld.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-forged-rows-'))
const home = join(folder, 'home')
const question = 'request:task/plan-1/low'
let copies = 0

const open = (of: string) => openSqliteJournal({ path: join(of, 'assay.db'), views: engineViews })

beforeAll(async () => {
  await makeHome(home)
  const journal = await open(home)
  const data = { card: 'note', type: 'milestone', title: 'Half way', body: '', priority: 'normal', from: 'dev', judges: [] }
  const meta = { at: new Date().toISOString(), actor: 'dev' }
  const card = { stream: cardStream('note'), expected: 0, events: [{ type: 'card.emitted', v: 1, data }] }
  expect(await journal.append({ streams: [card], meta })).toMatchObject({ ok: true })
  await journal.close()
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a copy of the home shows after an edit of its stored rows. */
async function afterEdit(sql?: string) {
  copies += 1
  const copy = join(folder, `copy-${copies}`)
  cpSync(home, copy, { recursive: true })
  if (sql !== undefined) {
    const db = new DatabaseSync(join(copy, 'assay.db'))
    expect(Number(db.prepare(sql).run().changes), 'the fault fired').toBe(1)
    db.close()
  }
  const journal = await open(copy)
  const { parts, remove } = openWorkshop({ config: {}, brains: {}, journal, folder: join(copy, 'shop') })
  try {
    const rows = await inboxCards(parts)
    const listed = await provenCards(
      parts,
      rows.filter(({ state }) => state === 'pending'),
    )
    const alone = await inboxCard(parts, question)
    return { ...listed, all: rows, alone, copy }
  } finally {
    await journal.close()
    remove()
  }
}

describe('the list of the inbox', () => {
  it('shows what waits, and says of a question how its task stands', async () => {
    const { all: rows, changed, alone } = await afterEdit()
    expect(changed).toEqual([])
    expect(rows.map(({ card, state }) => [card, state]).sort()).toEqual([
      ['note', 'pending'],
      [question, 'pending'],
    ])
    expect(alone).toMatchObject({ flag: 'below-threshold', title: 'low' })
  })

  it.each([
    ['a card was forged to handled', 'note', `UPDATE view_rows SET row = replace(row, '"pending"', '"handled"') WHERE key = 'note'`],
    ['a card was deleted', 'note', `DELETE FROM view_rows WHERE view = 'inbox' AND key = 'note'`],
    ['a card was renamed', 'note', `UPDATE view_rows SET key = 'other' WHERE view = 'inbox' AND key = 'note'`],
    [
      'a question was forged to handled',
      question,
      `UPDATE view_rows SET row = replace(row, '"pending"', '"handled"') WHERE key = '${question}'`,
    ],
    ['a question was deleted', question, `DELETE FROM view_rows WHERE view = 'inbox' AND key = '${question}'`],
  ])('hides nothing where %s: it is shown, named, and found by the audit', async (_what, card, sql) => {
    const { rows, changed, copy } = await afterEdit(sql)
    expect(rows.map((row) => row.card)).toContain(card)
    expect(changed).toContain(card)
    expect((await auditHome(copy)).breaks).toContainEqual(expect.objectContaining({ stream: `view inbox, row ${card}` }))
  })

  it('shows no card that the journal does not have, and names it', async () => {
    const { rows, changed } = await afterEdit(
      `INSERT INTO view_rows SELECT view, 'forged', replace(row, '"note"', '"forged"') FROM view_rows WHERE view = 'inbox' AND key = 'note'`,
    )
    expect(rows.map(({ card }) => card)).not.toContain('forged')
    expect(changed).toEqual(['forged'])
  })

  it.each([
    ['cleaner', `UPDATE view_rows SET row = replace(row, 'below-threshold', 'clean') WHERE view = 'tasks' AND key = 'plan-1/low'`],
    ['better', `UPDATE view_rows SET row = replace(row, '"score"', '"scare"') WHERE view = 'tasks' AND key = 'plan-1/low'`],
    ['gone', `DELETE FROM view_rows WHERE view = 'tasks' AND key = 'plan-1/low'`],
  ])('says of a question what the events of its task say, though its row is %s', async (_how, sql) => {
    const whole = await afterEdit()
    const { all, rows, alone } = await afterEdit(sql)
    expect(alone).toEqual(whole.alone)
    expect(alone).toMatchObject({ flag: 'below-threshold', score: expect.anything() as unknown })
    expect(rows).toEqual(whole.rows)
    expect(all).toEqual(whole.all)
  })
})

describe('accepted work that was held back', () => {
  it('is not forgotten because its card was forged to handled', async () => {
    const journal = await open(home)
    try {
      const data = {
        card: 'held',
        type: 'error_alert',
        title: 'clean: held back',
        body: 'why',
        priority: 'high',
        from: 'runtime',
        judges: [],
        task: 'plan-1/clean',
      }
      const streams = [{ stream: cardStream('held'), expected: 0, events: [{ type: 'card.emitted', v: 1, data }] }]
      await journal.append({ streams, meta: { at: new Date().toISOString(), actor: 'runtime' } })
      const rows = (await journal.viewRows('tasks')).map(({ row }) => row as never)
      const before = await withheldOf({ journal }, rows)
      expect(before).toMatchObject([{ task: 'plan-1/clean', card: 'held' }])
      const db = new DatabaseSync(join(home, 'assay.db'))
      db.exec(`UPDATE view_rows SET row = replace(row, '"pending"', '"handled"') WHERE view = 'inbox' AND key = 'held'`)
      db.close()
      expect(await withheldOf({ journal }, rows)).toEqual(before)
    } finally {
      await journal.close()
    }
  })
})
