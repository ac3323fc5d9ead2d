import type { CheckReport, CheckSpec } from '../../../contract/check.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'

/** Packages that are named one by one. */
const mostNamed = 20

/** Only programs load what is installed. */
export function loadsPackages(spec: CheckSpec): boolean {
  return spec.kind === 'command'
}

export function isMeddled({ changed, added, removed }: PackageChanges): boolean {
  return changed.length + added.length + removed.length > 0
}

/**
 * The report of a program that may have loaded packages which the worker changed. They are in no snapshot, so they cannot be put back for the check:
 * each is a finding. A check does not pass on a package that was there and is another now, nor on a new one that the work does not declare.
 */
export function withMeddling(report: CheckReport, changes: PackageChanges, declares: (path: string) => boolean): CheckReport {
  if (!isMeddled(changes)) return report
  const findings = [
    ...report.findings,
    ...named(changes.changed, 'is installed and was changed; it is in no snapshot'),
    ...named(changes.added, 'was installed by the worker; it is in no snapshot'),
    ...named(changes.removed, 'was installed and is gone'),
  ]
  const undeclared = changes.added.filter((path) => !declares(path))
  if (report.outcome !== 'pass' || changes.changed.length + undeclared.length === 0) return { ...report, findings }
  const summary =
    changes.changed.length > 0
      ? `${counted(changes.changed)} changed: what the check loaded is not what is judged. Install them again`
      : `${counted(undeclared)} added that no package.json or lock file declares for this check: what it loaded is not what is judged`
  return { ...report, findings, outcome: 'fail', summary }
}

function counted({ length }: readonly string[]): string {
  return length === 1 ? '1 installed package was' : `${length} installed packages were`
}

function named(packages: readonly string[], what: string): string[] {
  const shown = packages.slice(0, mostNamed).map((path) => `${visible(path)} ${what}`)
  return packages.length > shown.length ? [...shown, `and ${packages.length - shown.length} more installed packages`] : shown
}
