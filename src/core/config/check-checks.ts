import { type CheckSpec, checkId } from '../../contract/check.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named, shown } from '../../contract/source/shown.ts'

/** Where each check of a list was written: policy and task checks run as one list but stand in two files. */
export interface WrittenCheck {
  spec: CheckSpec
  /** Absent for a check that stands in another file and was checked there. */
  path?: Path
}

/** What the shape of checks does not say: names that clash, and paths that leave the workspace. */
export function checkFindings(checks: readonly WrittenCheck[]): Finding[] {
  const findings: Finding[] = []
  const first = new Map<string, number>()
  for (const [index, { spec, path }] of checks.entries()) {
    const id = checkId(spec, index)
    const earlier = first.get(id)
    if (earlier === undefined) first.set(id, index)
    else if (path) {
      findings.push({
        path: spec.id === undefined ? path : [...path, 'id'],
        message: `the check ${named(id)} has the name of another check before it`,
        fix: 'give it an `id` of its own',
      })
    }
    if (path) findings.push(...pathFindings(spec, path))
  }
  return findings
}

function pathFindings(spec: CheckSpec, path: Path): Finding[] {
  const places = { path: 'path' in spec ? spec.path : undefined, cwd: 'cwd' in spec ? spec.cwd : undefined }
  return Object.entries(places).flatMap(([key, place]) =>
    place === undefined || staysInside(place)
      ? []
      : [
          {
            path: [...path, key],
            message: `the check looks at ${shown(place)}, which is not inside the workspace`,
            fix: 'write a relative path without `..`',
          },
        ],
  )
}

/** Whether a written path stays below the folder that it is relative to, on any system. */
function staysInside(place: string): boolean {
  return !/^([\\/]|[A-Za-z]:)/.test(place) && !place.split(/[\\/]/).includes('..')
}
