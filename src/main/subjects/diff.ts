import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkspaceFault } from '../../adapters/workspace/fault.ts'
import { snapshotRange } from '../../adapters/workspace/worktree/diff.ts'
import { changeSource, type ReviewedChange } from '../../contract/deliverable/change.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { Subject } from '../../doors/cli/app.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'

/** What changed between two commits: judges see the difference, and the rest of the repository where they look for it. */
export async function readDiff(snapshots: SnapshotStore, cwd: string, range: string, home: string): Promise<Result<Subject, Problem[]>> {
  try {
    const { base, snapshot, commits } = await snapshotRange(snapshots, cwd, range, join(home, 'drafts'))
    if (base === snapshot) return refused(range, 'nothing changed between the two commits')
    const source = changeSource({ folder: cwd, range, ...commits })
    return { ok: true, value: { kind: 'diff', name: range, snapshot, base, digest: snapshot, source } }
  } catch (error) {
    if (error instanceof WorkspaceFault) return refused(range, error.message)
    throw error
  }
}

/** Digest of a change whose two ends are looked up again; one that no content has where they are other commits, or are gone. */
export async function digestOfChange(snapshots: SnapshotStore, change: ReviewedChange): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'assay-change-'))
  try {
    const taken = await readDiff(snapshots, change.folder, change.range, home)
    if (!taken.ok) return 'gone'
    return taken.value.source === changeSource(change) ? taken.value.digest : 'other commits'
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function refused(file: string, message: string): { ok: false; error: Problem[] } {
  return { ok: false, error: [{ file, path: '', message, fix: 'name it as base..head, e.g. main..HEAD' }] }
}
