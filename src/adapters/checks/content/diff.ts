import type { CheckSpec } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { openInside } from '../inside.ts'
import { broken, type CheckResult, judged } from '../result.ts'
import { pathMatcher } from './paths.ts'

type DiffSpec = Extract<CheckSpec, { kind: 'diff' }>

/** Looks at which files the worker changed, and at how much. */
export async function checkDiff(spec: DiffSpec, { folder, changed, baseFile }: CheckContext, signal: AbortSignal): Promise<CheckResult> {
  const { nonEmpty, paths, maxFiles, maxBytes } = spec
  if (nonEmpty !== true && paths === undefined && maxFiles === undefined && maxBytes === undefined)
    return broken('the check asks for nothing; give it `nonEmpty: true`, `paths`, `maxFiles` or `maxBytes`')
  const complaints: string[] = []
  if (nonEmpty === true && !(await someFile(folder, changed, baseFile))) {
    complaints.push(changed.length === 0 ? 'nothing changed' : 'no file changed: what is new is no plain file')
  }
  if (maxFiles !== undefined && changed.length > maxFiles)
    complaints.push(`${changed.length} files changed; at most ${maxFiles} are allowed`)
  if (paths !== undefined) {
    const isAllowed = pathMatcher(paths)
    complaints.push(
      ...changed.filter((path) => !isAllowed(path)).map((path) => `${excerpt(path)} changed; it is not one of the allowed paths`),
    )
  }
  if (maxBytes !== undefined) {
    const bytes = await bytesOf(folder, changed, signal)
    if (bytes === undefined) return broken('stopped before all files were looked at')
    if (bytes > maxBytes) complaints.push(`the changed files have ${bytes} bytes; at most ${maxBytes} are allowed`)
  }
  return judged(changed.length === 1 ? 'one changed file' : `${changed.length} changed files`, complaints)
}

/** Whether a plain file came, went or changed; what is refused in a snapshot is neither in the copy nor in the base. */
async function someFile(folder: string, paths: readonly string[], baseFile: CheckContext['baseFile']): Promise<boolean> {
  for (const path of paths) {
    const found = await openInside(folder, path)
    if (found.kind === 'file') await found.handle.close()
    if (found.kind === 'file' || (await baseFile(path)) !== undefined) return true
  }
  return false
}

/** Bytes of the files as they are now; what was deleted, and what is no plain file, has none. */
async function bytesOf(folder: string, paths: readonly string[], signal: AbortSignal): Promise<number | undefined> {
  let bytes = 0
  for (const path of paths) {
    if (signal.aborted) return undefined
    const found = await openInside(folder, path)
    if (found.kind !== 'file') continue
    bytes += found.size
    await found.handle.close()
  }
  return bytes
}
