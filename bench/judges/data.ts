import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** One reply of a real judge, and what it should be read as. */
export interface Recorded {
  id: string
  fmt: string
  text: string
  finish?: string
  expect: 'parse' | 'reject' | 'ambiguous' | 'dispute' | 'source-null' | 'partial' | 'repair-or-reject'
  expected_verdict?: string | null
  expected_score?: number | null
  expected_scores?: Record<string, number> | null
}

/** One attack string. */
export interface Attack {
  id: string
  text: string
  target: string
  family: string
}

type Value = number | number[] | null

/** What several judges said of one item, and what people or a checker did. */
export interface PanelItem {
  item: string
  gold: Value
  judges: Record<string, Value>
}

/** Whether a folder holds the recorded judgements. */
export function hasData(folder: string): boolean {
  return existsSync(join(folder, 'injections.jsonl.gz'))
}

export const recorded = (folder: string): Recorded[] =>
  filesOf(folder, 'raw-judge-texts-').flatMap((file) => rowsOf<Recorded>(folder, file))

export const attacks = (folder: string): Attack[] => rowsOf<Attack>(folder, 'injections.jsonl.gz')

export function panels(folder: string): { name: string; items: PanelItem[] }[] {
  return filesOf(folder, 'panel-').map((file) => ({
    name: file.replace(/^panel-|\.jsonl\.gz$/g, ''),
    items: rowsOf<PanelItem>(folder, file),
  }))
}

function filesOf(folder: string, prefix: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .sort()
}

function rowsOf<Row>(folder: string, file: string): Row[] {
  const lines = gunzipSync(readFileSync(join(folder, file)), { maxOutputLength: 512 * 1024 * 1024 })
    .toString('utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}

/** Every so-many-th, so that a smaller run sees all of the range and the same each time. */
export function sample<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all]
  return Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)] as T)
}
