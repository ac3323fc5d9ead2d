import { relative, resolve } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { CheckSpec } from '../../../contract/check.ts'
import { insidePath, type ProgramWord, programWords } from '../../../contract/checks/program.ts'
import type { CheckProgram } from '../../../ports/checks.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { SharedPlace } from '../../../ports/workspace.ts'

/** What a command check runs, and which of it the base has: a worker does not write what it is checked by. */
export async function programsOf(
  snapshots: SnapshotStore,
  spec: CheckSpec,
  base: string,
  shared: SharedPlace | undefined,
): Promise<CheckProgram[]> {
  const words = spec.kind === 'command' ? programWords(spec.argv) : []
  if (words.length === 0) return []
  const files = new Set((await snapshots.manifest(base as Digest))?.files.map(({ path }) => path) ?? [])
  const cwd = spec.kind === 'command' ? (spec.cwd ?? '') : ''
  return words.map((word) => {
    const inBase = candidates(word, cwd, shared).find((path) => path !== undefined && files.has(path))
    return { ...word, ...(inBase !== undefined && { inBase }) }
  })
}

/** What a word may mean in the work: seen from where the check runs, from the work's root, from the configuration's folder in it. */
function candidates({ path }: ProgramWord, cwd: string, shared: SharedPlace | undefined): (string | undefined)[] {
  const fromConfig = shared && insidePath('', relative(shared.folder, resolve(shared.config, path)))
  return [insidePath(cwd, path), insidePath('', path), fromConfig]
}

/** A path as a glob that matches it alone. */
export const literal = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@|]/g, '\\$&')
