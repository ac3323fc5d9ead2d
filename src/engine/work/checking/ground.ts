import type { Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import { protectMatcher } from '../../../contract/checks/glob.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { CheckProgram } from '../../../ports/checks.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { SharedPlace } from '../../../ports/workspace.ts'
import { literal, programsOf } from './program.ts'
import { withProtected } from './protect.ts'
import type { DueCheck } from './regressions.ts'

/** What a check runs, and on what: the work with everything in it as it was that is not the worker's to decide. */
export interface CheckGround {
  programs: CheckProgram[]
  snapshot: Digest
  base: Digest
  findings: string[]
}

export async function groundOf(
  snapshots: SnapshotStore,
  due: DueCheck,
  content: Content,
  shared: SharedPlace | undefined,
): Promise<CheckGround> {
  const { spec } = due
  const snapshot = content.snapshot as Digest
  const { programs, base } = await programsAndBase(snapshots, due, shared)
  const globs = [...(spec.protect ?? []), ...programs.flatMap(({ inBase }) => (inBase === undefined ? [] : [literal(inBase)]))]
  if (globs.length === 0) return { programs, snapshot, base, findings: [] }
  const guarded = await withProtected(snapshots, snapshot, base, globs)
  const idle = await idleGlobs(snapshots, spec.protect ?? [], base)
  const word =
    due.of !== undefined && guarded.findings.length > 0
      ? [`${visible(due.of)} was accepted by this check: to change what it runs or protects takes the owner’s word or a check of its own`]
      : []
  return { programs, snapshot: guarded.snapshot, base, findings: [...guarded.findings, ...word, ...idle] }
}

/** What the check of an accepted task runs and its base did not have is what was accepted; anything else is as the base has it. */
async function programsAndBase(
  snapshots: SnapshotStore,
  { spec, base, accepted, taken = [] }: DueCheck,
  shared: SharedPlace | undefined,
): Promise<{ programs: CheckProgram[]; base: Digest }> {
  const programs = await programsOf(snapshots, spec, base, shared)
  const before = { programs, base: base as Digest }
  if (accepted === undefined || programs.every(({ inBase }) => inBase !== undefined)) return before
  const then = await programsOf(snapshots, spec, accepted, shared)
  const both = programs.map((program, index) => {
    const inBase = program.inBase ?? then[index]?.inBase
    return program.inBase !== undefined || inBase === undefined ? program : { ...program, inBase, ofWork: true }
  })
  const paths = new Set(both.flatMap(({ ofWork, inBase }) => (ofWork && inBase !== undefined ? [inBase] : [])))
  if (paths.size === 0) return before
  const filesOf = async (one: string) => (await snapshots.manifest(one as Digest))?.files ?? []
  const files = new Map((await filesOf(base)).map((file) => [file.path, file]))
  const sources = [{ snapshot: accepted, paths: [...paths] }, ...taken]
  for (const source of sources) {
    const own = new Set(source.paths.filter((path) => paths.has(path)))
    if (own.size > 0) for (const file of await filesOf(source.snapshot)) if (own.has(file.path)) files.set(file.path, file)
  }
  return { programs: both, base: await snapshots.compose([...files.values()]) }
}

/** A glob that protects nothing is most often one that was written from another folder. */
async function idleGlobs(snapshots: SnapshotStore, globs: readonly string[], base: Digest): Promise<string[]> {
  if (globs.length === 0) return []
  const files = (await snapshots.manifest(base))?.files ?? []
  return globs
    .filter((glob) => {
      const matches = protectMatcher([glob])
      return !files.some(({ path }) => matches(path))
    })
    .map((glob) => `protect ${visible(JSON.stringify(glob))} names no file that was there before the work; globs count from the workspace`)
}
