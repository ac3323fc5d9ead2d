import type { CheckReport, CheckSpec } from '../../../contract/check.ts'
import { visible } from '../../../contract/source/shown.ts'

/** Packages that are named one by one. */
const mostNamed = 20

/** Files that say which packages belong to a project: they are in the snapshot, so whoever judges sees what is to be installed. */
const manifests = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
])

/** What was changed among installed packages, and whether the work says so itself. */
export interface Meddling {
  packages: readonly string[]
  /** The work changes what is to be installed: installing is part of it, and is judged. */
  declared: boolean
}

export function meddling(packages: readonly string[], changed: readonly string[]): Meddling {
  return { packages, declared: changed.some((path) => manifests.has(path.slice(path.lastIndexOf('/') + 1))) }
}

/** Only programs load what is installed. */
export function loadsPackages(spec: CheckSpec): boolean {
  return spec.kind === 'command'
}

/**
 * The report of a program that may have loaded packages which the worker changed. They are in no snapshot, so they cannot be put back for the check:
 * each is a finding, and a check does not pass on them unless the work declares what it installs.
 */
export function withMeddling(report: CheckReport, { packages, declared }: Meddling): CheckReport {
  if (packages.length === 0) return report
  const findings = [...report.findings, ...named(packages)]
  if (declared || report.outcome !== 'pass') return { ...report, findings }
  const which = `${packages.length === 1 ? '1 installed package was' : `${packages.length} installed packages were`} changed`
  const summary = `${which}, and neither package.json nor a lock file was: what the check loaded is not what is judged. Install them again`
  return { ...report, findings, outcome: 'fail', summary }
}

function named(packages: readonly string[]): string[] {
  const shown = packages.slice(0, mostNamed).map((path) => `${visible(path)} is installed and was changed; it is in no snapshot`)
  return packages.length > shown.length ? [...shown, `and ${packages.length - shown.length} more installed packages`] : shown
}
