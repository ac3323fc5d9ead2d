import type { Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import type { CheckSpec } from '../../../contract/check.ts'
import { protectMatcher } from '../../../contract/checks/glob.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import type { NamedText } from '../../prompts/judge.ts'
import { textReader, workFiles } from '../material.ts'

/** Files of tests that a judge is shown. */
const maxTests = 20
const maxTestBytes = 64 * 1024
const maxAgentsBytes = 64 * 1024
/** Lines that may differ before a file is shown whole instead of as a difference. */
const maxEdits = 4_000

/** The change, file by file: a difference where the file was there before, else the file. */
export async function changedFiles(snapshots: SnapshotStore, content: Content, budget: number): Promise<NamedText[]> {
  const files = await workFiles(snapshots, content.snapshot, content.paths, budget)
  const base = await snapshots.manifest(content.base as Digest)
  const before = textReader(snapshots, content.base, base)
  const now = textReader(snapshots, content.snapshot, await snapshots.manifest(content.snapshot as Digest))
  const shown: NamedText[] = []
  for (const file of files) {
    const [was, is] = [await before(file.path), await now(file.path)]
    // What is not shown as text stays as it is named.
    if (was !== undefined && is === undefined && file.text === '[deleted]')
      shown.push({ path: file.path, text: `[deleted; it was:]\n${was}` })
    else if (was === undefined || is === undefined || file.text !== is) shown.push(file)
    else shown.push({ path: file.path, text: (await difference(file.path, was, is)) ?? is })
  }
  return shown
}

/** Both the difference and the whole file: a judge sees what changed and where it stands. Undefined where too much differs. */
async function difference(path: string, was: string, is: string): Promise<string | undefined> {
  const { createTwoFilesPatch } = await import('diff')
  const patch = createTwoFilesPatch(`before/${path}`, `after/${path}`, was, is, undefined, undefined, {
    maxEditLength: maxEdits,
    context: 3,
  })
  return patch === undefined ? undefined : `${patch}\n--- the whole file now ---\n${is}`
}

/** The files that the checks ran: those that their commands name and those that they protect, as the checks saw them. */
export async function testFiles(snapshots: SnapshotStore, content: Content, checks: readonly CheckSpec[]): Promise<NamedText[]> {
  const [base, now] = await Promise.all([snapshots.manifest(content.base as Digest), snapshots.manifest(content.snapshot as Digest)])
  const shown = new Map<string, NamedText>()
  const read = { base: textReader(snapshots, content.base, base), now: textReader(snapshots, content.snapshot, now) }
  for (const check of checks) {
    const guarded = protectMatcher(check.protect ?? [])
    for (const path of namedIn(check, now)) if (!guarded(path)) await show(shown, path, read.now)
    for (const { path } of base?.files ?? []) if (guarded(path)) await show(shown, path, read.base)
  }
  return [...shown.values()]
}

function namedIn(check: CheckSpec, now: Manifest | undefined): string[] {
  if (check.kind !== 'command') return []
  const there = new Set(now?.files.map(({ path }) => path))
  const folder = check.cwd === undefined || check.cwd === '.' ? '' : `${check.cwd.replace(/\/$/, '')}/`
  return check.argv.map((word) => `${folder}${word.replace(/^\.\//, '')}`).filter((path) => there.has(path))
}

async function show(shown: Map<string, NamedText>, path: string, read: (path: string) => Promise<string | undefined>): Promise<void> {
  if (shown.has(path) || shown.size >= maxTests) return
  const text = await read(path)
  if (text !== undefined)
    shown.set(path, { path, text: text.length <= maxTestBytes ? text : `[${text.length} characters, too long to show]` })
}

/** What the repository asks of everybody, as it stood before the work: a worker cannot rewrite it. */
export async function agentsFileOf(snapshots: SnapshotStore, content: Content): Promise<string | undefined> {
  const bytes = await snapshots.read(content.base as Digest, 'AGENTS.md')
  if (!bytes || bytes.includes(0)) return undefined
  const text = Buffer.from(bytes).toString('utf8')
  return text.length <= maxAgentsBytes ? text : `[AGENTS.md: ${text.length} characters, too long to show; read it in the snapshot]`
}
