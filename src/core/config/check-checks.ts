import { type CheckEntry, checkId, expandChecks } from '../../contract/check.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named, shown } from '../../contract/source/shown.ts'

/** Where each check of a list was written: policy and task checks run as one list but stand in two files. */
export interface WrittenCheck {
  spec: CheckEntry
  /** Absent for a check that stands in another file and was checked there. */
  path?: Path
}

/** What the shape of checks does not say: names that clash, paths that leave the workspace, pages named twice or not at all. */
export function checkFindings(checks: readonly WrittenCheck[]): Finding[] {
  const findings: Finding[] = []
  const names = new Set<string>()
  let place = 0
  for (const { spec, path } of checks) {
    const ids = expandChecks([spec]).map((one) => checkId(one, place++))
    const taken = ids.find((id) => names.has(id))
    for (const id of ids) names.add(id)
    if (taken !== undefined && path) {
      findings.push({
        path: spec.id === undefined ? path : [...path, 'id'],
        message: `the check ${named(taken)} has the name of another check before it`,
        fix: 'give it an `id` of its own',
      })
    }
    if (path) findings.push(...pathFindings(spec, path), ...pageFindings(spec, path))
  }
  return findings
}

/** A page stands in the workspace or on the network: one of them, and an address that can be asked. */
function pageFindings(spec: CheckEntry, path: Path): Finding[] {
  if (spec.kind !== 'http' && spec.kind !== 'html' && spec.kind !== 'browser' && spec.kind !== 'landing-page') return []
  const { url, path: file } = spec
  if ((url === undefined) === (file === undefined))
    return [
      {
        path: url === undefined ? path : [...path, 'url'],
        message: `the check has ${url === undefined ? 'neither `path` nor `url`' : 'both `path` and `url`'}`,
        fix: 'write one of them: `path` for a page of the workspace, `url` for one on the network',
      },
    ]
  if (url === undefined || isWebAddress(url)) return []
  return [{ path: [...path, 'url'], message: `${shown(url)} is no http or https address`, fix: 'write it like `https://example.com/page`' }]
}

function isWebAddress(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && (parsed.protocol === 'http:' || parsed.protocol === 'https:') && parsed.hostname !== ''
}

function pathFindings(spec: CheckEntry, path: Path): Finding[] {
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
