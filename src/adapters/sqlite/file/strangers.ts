import { DatabaseSync } from 'node:sqlite'
import { JournalFault } from '../../../ports/journal.ts'
import { migrations } from './schema.ts'

interface SchemaRow {
  type: string
  name: string
  sql: string | null
}

/** What SQLite makes by itself is not listed: indexes of keys, and statistics. */
const listed = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"

let expected: SchemaRow[] | undefined

/** What the migrations make of an empty file. */
function ownSchema(): SchemaRow[] {
  if (expected) return expected
  const db = new DatabaseSync(':memory:')
  for (const step of migrations) db.exec(step)
  expected = db.prepare(listed).all() as unknown as SchemaRow[]
  db.close()
  return expected
}

/** Tables, triggers, views and indexes that are not Assay's, that are missing, or that say something else. */
export function schemaProblems(db: DatabaseSync): string[] {
  const found = db.prepare(listed).all() as unknown as SchemaRow[]
  const own = new Map(ownSchema().map((row) => [row.name, row]))
  const problems = found.flatMap(({ type, name, sql }) => {
    const known = own.get(name)
    own.delete(name)
    if (known === undefined || known.type !== type) return [`the ${type} ${name} is not Assay's: it could change what is stored`]
    return known.sql === sql ? [] : [`the ${type} ${name} is not as Assay makes it`]
  })
  return [...problems, ...[...own.values()].map(({ type, name }) => `the ${type} ${name} is missing`)]
}

/** A trigger would write along with every append; so nothing is written where something is not Assay's. */
export function refuseStrangers(db: DatabaseSync, path: string): void {
  const [first, ...more] = schemaProblems(db)
  if (first === undefined) return
  const others = more.length > 0 ? `, and ${more.length} more` : ''
  throw new JournalFault('corrupt', `${path} was changed by hand or damaged: ${first}${others}. Keep a copy, and restore the last backup`)
}
