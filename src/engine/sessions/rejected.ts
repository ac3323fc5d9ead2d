import { type Digest, textOrder } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Manifest } from '../../ports/snapshots.ts'
import type { Engine } from '../engine.ts'
import type { TaskRow } from '../views/tasks.ts'
import { changed } from '../work/attempt/changed.ts'

/** Paths that were sent back and still differ, each with the tree in which it stands as it is measured against. */
type Left = Map<string, Manifest>

/** Most accepted works in which it is looked for what settled a rejected path, the latest; a path that they do not settle is judged once more. */
const mostSearched = 500

/**
 * What a session's work is measured against: `ground`, but paths that another session was sent back for and left as they were before that. A path
 * that is as it was then is not among them, nor one that a later session brought to an accepted end as it is now.
 */
export async function groundWithRejected(engine: Engine, ground: Digest, folder: Digest): Promise<Digest> {
  const [before, now] = await Promise.all([manifestOf(engine, ground), manifestOf(engine, folder)])
  if (!before || !now) return ground
  const left = await leftIn(engine, now)
  return left.size === 0 ? ground : withEntries(engine, before, left)
}

/** Tasks of sessions whose work was sent back and has come to no end, the oldest first, and the paths of that work. */
export async function sentBack(engine: Engine): Promise<{ task: string; paths: string[] }[]> {
  const found: { task: string; paths: string[] }[] = []
  for (const { id, status } of await sessionRows(engine)) {
    const state = status === 'done' ? undefined : await engine.task(id)
    if (state && isSentBack(state)) found.push({ task: id, paths: Object.values(state.contents).flatMap(({ paths }) => paths) })
  }
  return found
}

/** Tries that sessions have used on the way from one ground, under the policy in force, without an end that was accepted. */
export async function triesUsed(engine: Engine, base: Digest): Promise<number> {
  let used = 0
  for (const { id, status } of await sessionRows(engine)) {
    const state = status === 'done' ? undefined : await engine.task(id)
    if (!state || state.policy !== engine.parts.rules.digest || !isSentBack(state)) continue
    if (Object.values(state.contents).some((content) => content.base === base)) used += Math.max(0, state.charged - state.granted)
  }
  return used
}

/** Whatever its second try came to, the first was sent back. */
const isSentBack = ({ status, attempts }: TaskState): boolean => status === 'todo' || attempts >= 2

async function sessionRows(engine: Engine): Promise<TaskRow[]> {
  const rows = (await engine.taskRows()).filter(({ id }) => /-session-.*\/work$/.test(id))
  return rows.sort((one, other) => textOrder(one.updated, other.updated))
}

async function leftIn(engine: Engine, now: Manifest): Promise<Left> {
  const rows = await sessionRows(engine)
  const left: Left = new Map()
  for (const { id, status, updated } of rows) {
    const state = status === 'done' ? undefined : await engine.task(id)
    if (!state || !isSentBack(state)) continue
    const open = await openPaths(engine, state, now)
    const later = rows.filter((row) => row.status === 'done' && row.flag !== 'unreviewed' && row.updated > updated)
    await settle(engine, later.slice(-mostSearched), now, open)
    for (const [path, tree] of open) left.set(path, tree)
  }
  return left
}

/** Paths of rejected work, under their own names or moved, that are not as they were before it. */
async function openPaths(engine: Engine, state: TaskState, now: Manifest): Promise<Left> {
  const open: Left = new Map()
  for (const content of Object.values(state.contents)) {
    const { base, work } = await treesOf(engine, content)
    if (!base || !work) continue
    const brought = new Set(changed(base, work))
    const known = new Set(base.files.map(({ digest }) => digest))
    const bytes = new Set(work.files.flatMap(({ path, digest, size }) => (brought.has(path) && size > 0 ? [digest] : [])))
    const moved = now.files.filter(({ digest }) => bytes.has(digest) && !known.has(digest)).map(({ path }) => path)
    const different = new Set(changed(base, now))
    for (const path of [...brought, ...moved]) if (different.has(path)) open.set(path, base)
  }
  return open
}

/** Takes out what was accepted as it is now; what was accepted otherwise is measured against that. */
async function settle(engine: Engine, accepted: readonly TaskRow[], now: Manifest, open: Left): Promise<void> {
  for (const { id } of accepted) {
    if (open.size === 0) return
    const state = await engine.task(id)
    const { base, work } = await treesOf(engine, state?.contents[state.done?.content ?? ''])
    if (!base || !work) continue
    const different = new Set(changed(work, now))
    for (const path of changed(base, work)) {
      if (!open.has(path)) continue
      if (different.has(path)) open.set(path, work)
      else open.delete(path)
    }
  }
}

async function treesOf(
  engine: Engine,
  content: Content | undefined,
): Promise<{ base?: Manifest | undefined; work?: Manifest | undefined }> {
  const [base, work] = await Promise.all([manifestOf(engine, content?.base), manifestOf(engine, content?.snapshot)])
  return { base, work }
}

async function manifestOf({ parts }: Engine, digest: string | undefined): Promise<Manifest | undefined> {
  return digest === undefined ? undefined : parts.snapshots.manifest(digest as Digest)
}

/** The tree with some paths as they stand in others. A file takes the place of the folder that has its name, and the other way round. */
function withEntries({ parts }: Engine, tree: Manifest, left: Left): Promise<Digest> {
  const takes = <T extends { path: string }>(pick: (from: Manifest) => readonly T[]): T[] =>
    [...left].flatMap(([path, from]) => pick(from).filter((entry) => entry.path === path))
  const files = takes((from) => from.files)
  const refused = takes((from) => from.refused)
  const placed = new Set([...files, ...refused].map(({ path }) => path))
  const folders = new Set([...placed].flatMap(foldersAbove))
  const stays = ({ path }: { path: string }) =>
    !left.has(path) && !folders.has(path) && !foldersAbove(path).some((folder) => placed.has(folder))
  return parts.snapshots.compose([...tree.files.filter(stays), ...files], [...tree.refused.filter(stays), ...refused])
}

const foldersAbove = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))
