import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { errnoOf } from '../fault.ts'

/** Entries that are looked at, and bytes that are kept of one file; a folder with more entries says so. */
const most = { entries: 300_000, bytes: 1024 * 1024 }
/** How long the look may hold up everybody else. */
const sliceMs = 5

/** Folders that are not looked through: Assay's own, and installed packages, which are looked at on their own. */
const passedBy = new Set(['.assay', 'node_modules'])
/** What git keeps that nobody runs: its history, and what belongs to a command under way. */
const harmless = new Set(['objects', 'refs', 'logs', 'lfs'])
/** What decides what git runs and which repository it means. */
const deciding = /(^|\/)(config|config\.worktree|commondir|gitdir|info\/attributes|hooks(\/.*)?)$/

/** One entry of a repository as it stands. `content` is its bytes in base64, or where a link leads; null where it is too large to be kept. */
const GitEntry = z.strictObject({ kind: z.enum(['file', 'link', 'other']), mode: z.number(), content: z.string().nullable() })
export type GitEntry = z.infer<typeof GitEntry>

/**
 * What lies beside the work in a shared folder and is in no snapshot. `git`: every `.git` at any depth with what it decides by, by path in it
 * ('' where it is no folder). `hollow`: folders without any file.
 */
export const Beside = z.strictObject({
  git: z.record(z.string(), z.record(z.string(), GitEntry)),
  hollow: z.array(z.string()),
  whole: z.boolean(),
})
export type Beside = z.infer<typeof Beside>

interface Look {
  root: string
  left: number
  since: number
}

export async function lookBeside(root: string): Promise<Beside> {
  const look: Look = { root, left: most.entries, since: performance.now() }
  const git: Beside['git'] = {}
  const folders = ['']
  const inner = new Map<string, string[]>()
  const full = new Set<string>()
  for (let at = 0; at < folders.length; at += 1) {
    const folder = folders[at] ?? ''
    for (const entry of await entriesOf(look, folder)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (isGit(entry.name)) git[path] = await lookAtRepository(look, path)
      if (!entry.isDirectory() || isGit(entry.name) || passedBy.has(entry.name)) full.add(folder)
      else {
        folders.push(path)
        inner.set(folder, [...(inner.get(folder) ?? []), path])
      }
    }
  }
  // What lies deeper comes later in the list: from its end, every folder is known before the one around it.
  for (const folder of folders.toReversed()) if (inner.get(folder)?.some((path) => full.has(path))) full.add(folder)
  const hollow = folders.filter((folder) => folder !== '' && !full.has(folder)).sort()
  return { git, hollow, whole: look.left >= 0 }
}

/** Some file systems take other cases for the same name. */
const isGit = (name: string): boolean => name.toLowerCase() === '.git'

async function lookAtRepository(look: Look, place: string): Promise<Record<string, GitEntry>> {
  const stat = lstatSync(join(look.root, place), { throwIfNoEntry: false })
  if (stat === undefined) return {}
  if (!stat.isDirectory()) return { '': entryAt(join(look.root, place)) }
  const found: Record<string, GitEntry> = {}
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(look, folder === '' ? place : `${place}/${folder}`)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!harmless.has(entry.name)) folders.push(path)
      } else if (deciding.test(path) && !path.endsWith('.sample')) found[path] = entryAt(join(look.root, place, path))
    }
  }
  return found
}

function entryAt(path: string): GitEntry {
  const stat = lstatSync(path)
  const mode = stat.mode & 0o777
  if (stat.isSymbolicLink()) return { kind: 'link', mode, content: readlinkSync(path) }
  if (!stat.isFile()) return { kind: 'other', mode, content: null }
  return { kind: 'file', mode, content: stat.size > most.bytes ? null : readFileSync(path, 'base64') }
}

/** None where there is no folder, or none that may be read. Links are not followed. */
async function entriesOf(look: Look, folder: string) {
  if (performance.now() - look.since > sliceMs) {
    await nextTurn()
    look.since = performance.now()
  }
  if (look.left < 0) return []
  try {
    const entries = readdirSync(join(look.root, folder), { withFileTypes: true })
    look.left -= entries.length
    return entries
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EACCES' || errno === 'ELOOP') return []
    throw error
  }
}

/** What of version control is not as it was: a `.git` that is new or gone, or a file in one that decides what git runs. */
export function changedGit(before: Beside, now: Beside): string[] {
  if (before.whole && !now.whole) return [`.git (more than ${most.entries} files to look through)`]
  const changed: string[] = []
  for (const place of new Set([...Object.keys(before.git), ...Object.keys(now.git)])) {
    const [was, is] = [before.git[place], now.git[place]]
    if (was === undefined || is === undefined) changed.push(place)
    else changed.push(...changedEntries(was, is).map((path) => (path === '' ? place : `${place}/${path}`)))
  }
  return changed.sort()
}

export function changedEntries(was: Record<string, GitEntry>, is: Record<string, GitEntry>): string[] {
  const paths = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...paths].filter((path) => !isSame(was[path], is[path]))
}

function isSame(a: GitEntry | undefined, b: GitEntry | undefined): boolean {
  return a?.kind === b?.kind && a?.mode === b?.mode && a?.content === b?.content
}
