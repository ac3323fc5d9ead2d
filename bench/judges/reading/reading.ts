import { type Expectations, readReply } from '../../../src/core/verdict/read.ts'
import type { Recorded } from '../data.ts'
import { documentTables, expectationsOf, translateDocument } from './documents.ts'
import { labelTables } from './labels.ts'

/** How the rows of one format and one expectation came out. */
export interface ReadingCount {
  fmt: string
  expect: Recorded['expect']
  rows: number
  read: number
  rejected: number
  /** Read as something else than what a person reads; for a row that must be rejected, read at all. */
  misread: number
  misreadIds: string[]
}

const textual: Expectations = { nonce: 'nonce-off', criteria: [], dimensions: [], points: [], form: 'text' }

/** Most rows named in the output. */
const mostIds = 20

export function countReadings(rows: readonly Recorded[]): ReadingCount[] {
  const groups = Map.groupBy(rows, ({ fmt, expect }) => `${fmt}\n${expect}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const readings = group.map((row) => ({ row, read: readingOf(row) }))
    const read = readings.filter((one) => one.read !== undefined)
    const misread = read.filter((one) => isMisread(one.row, one.read))
    const misreadIds = misread.slice(0, mostIds).map(({ row }) => row.id)
    const counts = { rows: group.length, read: read.length, rejected: group.length - read.length, misread: misread.length, misreadIds }
    return [{ fmt: first.fmt, expect: first.expect, ...counts }]
  })
}

/** What the reader makes of a recorded reply, in the recorded format's own words; undefined where it does not read it. */
export function readingOf(row: Recorded): string | undefined {
  const finish = row.finish === undefined || row.finish === '' ? {} : { finish: row.finish }
  const labels = labelTables[row.fmt]
  if (labels !== undefined) {
    const result = readReply({ channel: 'text', body: labels.translate(row.text), ...finish }, textual)
    return result.kind === 'text' ? labels.meaning.get(Number(result.text.score100)) : undefined
  }
  const documents = documentTables[row.fmt]
  if (documents === undefined) throw new Error(`no table for the format ${row.fmt}`)
  const result = readReply({ channel: 'text', body: translateDocument(row.text, documents), ...finish }, expectationsOf(documents))
  if (result.kind !== 'verdict') return undefined
  return documents.meaning(Object.fromEntries(result.verdict.dimensions.map(({ name, score }) => [name, score])))
}

/** Two different verdicts, a broken document or none at all must not be read; a disputed or incomplete row must not be read wrongly. */
function isMisread(row: Recorded, read: string | undefined): boolean {
  if (row.expect === 'reject' || row.expect === 'ambiguous' || row.expect === 'repair-or-reject') return true
  const wanted = wantedOf(row)
  return wanted !== undefined && read !== wanted
}

/** What a person reads; undefined where nobody wrote it down. */
function wantedOf({ expected_scores: scores, expected_score: score, expected_verdict: verdict }: Recorded): string | undefined {
  if (scores) return JSON.stringify([...Object.values(scores), Math.floor(score ?? 0)])
  if (score !== undefined && score !== null) return String(score)
  return verdict ?? undefined
}
