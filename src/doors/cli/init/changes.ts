import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockState, withBlock, withoutBlock } from './agents-block.ts'
import { obstacle } from './obstacle.ts'
import { readSeal } from './sealed.ts'

export const configFile = 'assay.yaml'
export const missionFile = 'mission.yaml'
export const agentsFile = 'AGENTS.md'

/** One file as it is and as it is to be; undefined where there is none. */
export interface Change {
  path: string
  before: string | undefined
  after: string | undefined
}

/** What is to be done, and what is left as it is, with the reason. */
export interface Changes {
  changes: Change[]
  kept: { path: string; why: string }[]
}

/** What lies in the way of reading any of the files, each with what to do about it. */
export function unreadable(folder: string): string[] {
  return [configFile, missionFile, agentsFile].flatMap((path) => obstacle(join(folder, path), { writes: false }) ?? [])
}

/** A file that is there stays as it is, whoever wrote it. `AGENTS.md` gets a block at its end. */
export function additions(folder: string, files: Readonly<Record<string, string>>): Changes {
  const found: Changes = { changes: [], kept: [] }
  const config = textOf(folder, configFile)
  const foreign = config !== undefined && readSeal(config) === undefined
  for (const [path, after] of Object.entries(files)) {
    const before = textOf(folder, path)
    if (before !== undefined)
      found.kept.push({ path, why: readSeal(before) ? 'written by init before' : 'not written by init: left as it is' })
    else if (foreign) found.kept.push({ path, why: `not written: it goes with an ${configFile} of init's` })
    else found.changes.push({ path, before, after })
  }
  const text = textOf(folder, agentsFile)
  if (blockState(text ?? '') === 'absent') found.changes.push({ path: agentsFile, before: text, after: withBlock(text) })
  else found.kept.push({ path: agentsFile, why: 'has the block' })
  return found
}

/** Takes out what init wrote, as far as nobody changed it since. */
export function removals(folder: string): Changes {
  const found: Changes = { changes: [], kept: [] }
  for (const path of [configFile, missionFile]) {
    const before = plainText(folder, path, found)
    if (before === undefined) continue
    const seal = readSeal(before)
    if (seal?.unchanged) found.changes.push({ path, before, after: undefined })
    else found.kept.push({ path, why: seal ? 'changed since init wrote it: remove it yourself' : 'not written by init' })
  }
  const text = plainText(folder, agentsFile, found)
  const state = blockState(text ?? '')
  if (text !== undefined && state === 'unchanged') found.changes.push({ path: agentsFile, before: text, after: withoutBlock(text) })
  if (state === 'changed') found.kept.push({ path: agentsFile, why: 'its block was changed since init wrote it: remove it yourself' })
  return found
}

/** Makes every change, or none: says what stood in the way, and takes back what was done before that. */
export function applyAll(folder: string, changes: readonly Change[]): string | undefined {
  const blocked = changes.flatMap(({ path, after }) => (after === undefined ? [] : (obstacle(join(folder, path), { writes: true }) ?? [])))
  if (blocked.length > 0) return blocked.join('; ')
  const done: Change[] = []
  try {
    for (const change of changes) {
      apply(folder, change)
      done.push(change)
    }
    return undefined
  } catch (error) {
    undoAll(folder, done)
    return `${(error as Error).message}: nothing was written`
  }
}

/** Takes changes back that were made. */
export function undoAll(folder: string, changes: readonly Change[]): void {
  for (const { path, before, after } of [...changes].reverse()) {
    const place = join(folder, path)
    if (before === undefined) rmSync(place, { force: true })
    else if (after?.startsWith(before)) truncateSync(place, Buffer.byteLength(before))
    else writeFileSync(place, before)
  }
}

/** A file that appeared meanwhile is never overwritten: making it fails with `EEXIST`. */
function apply(folder: string, { path, before, after }: Change): void {
  const place = join(folder, path)
  if (after === undefined) rmSync(place)
  else if (before === undefined) writeFileSync(place, after, { flag: 'wx' })
  else if (after.startsWith(before)) appendFileSync(place, after.slice(before.length))
  else writeFileSync(place, after)
}

/** The template that an earlier init chose here. */
export function earlierTemplate(folder: string): string | undefined {
  return readSeal(textOf(folder, configFile) ?? '')?.template
}

/** What is no file that can be read is not what init wrote: it stays, and is named. */
function plainText(folder: string, path: string, found: Changes): string | undefined {
  const why = obstacle(join(folder, path), { writes: false })
  if (why === undefined) return textOf(folder, path)
  found.kept.push({ path, why })
  return undefined
}

function textOf(folder: string, path: string): string | undefined {
  try {
    return readFileSync(join(folder, path), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
