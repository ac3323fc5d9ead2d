import { join } from 'node:path'
import { WorkspaceFault } from '../../adapters/workspace/fault.ts'
import { snapshotRange } from '../../adapters/workspace/worktree/diff.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { Subject } from '../../doors/cli/app.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'

/** What changed between two commits: judges see the difference, and the rest of the repository where they look for it. */
export async function readDiff(snapshots: SnapshotStore, cwd: string, range: string, home: string): Promise<Result<Subject, Problem[]>> {
  try {
    const { base, snapshot } = await snapshotRange(snapshots, cwd, range, join(home, 'drafts'))
    if (base === snapshot) return refused(range, 'nothing changed between the two commits')
    return { ok: true, value: { kind: 'diff', name: range, snapshot, base, digest: snapshot } }
  } catch (error) {
    if (error instanceof WorkspaceFault) return refused(range, error.message)
    throw error
  }
}

function refused(file: string, message: string): { ok: false; error: Problem[] } {
  return { ok: false, error: [{ file, path: '', message, fix: 'name it as base..head, e.g. main..HEAD' }] }
}
