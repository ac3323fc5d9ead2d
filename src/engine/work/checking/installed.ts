import type { CheckReport } from '../../../contract/check.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'

/** Packages that are named one by one. */
const mostNamed = 20

/** What somebody does about programs in PATH that are not what they were. */
export const mendPrograms =
  'Make them what they were, remove what is new, or start Assay with the PATH that the task began with, or with one that does not lead into folders of work'

/** Says which programs in PATH are not what they were. */
export function programsChanged(programs: readonly string[]): string {
  return `programs that PATH finds where workers write are not what they were: ${listed(programs)}`
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, mostNamed).map((path) => visible(path))
  const more = paths.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Only programs load what is installed. */
export function loadsPackages({ kind }: { kind: string }): boolean {
  return kind === 'command'
}

export function isMeddled({ changed, replaced, added, removed, programs = [] }: PackageChanges): boolean {
  return changed.length + replaced.length + added.length + removed.length + programs.length > 0
}

/**
 * Packages whose content is not what it was are no work, whatever checks a task has: nobody sees them, and whatever runs in the folder next would load them.
 * Nor are programs that PATH finds: whatever is run by its name next would be the worker's.
 */
export function installedReports({ changed, replaced, programs = [] }: PackageChanges): CheckReport[] {
  const reports: CheckReport[] = []
  const add = (id: string, summary: string, findings: string[]) =>
    reports.push({ id, kind: 'diff', outcome: 'fail', summary, output: findings.join('\n'), findings })
  if (changed.length + replaced.length > 0) {
    const summary = `installed packages are not what they were, and no judge sees them: ${listed([...changed, ...replaced])}. Make them what they were: install the same again, or remove what is new`
    add('installed-packages', summary, [...named(changed, wasChanged), ...named(replaced, wasReplaced)])
  }
  if (programs.length > 0) add('path-programs', `${programsChanged(programs)}. ${mendPrograms}`, named(programs, wasInPath))
  return reports
}

const wasInPath = 'is found through PATH and is not what it was'

const wasChanged = 'is installed and was changed; it is in no snapshot'
const wasReplaced = 'was installed by the worker where another of its name was found before; it is in no snapshot'

/**
 * The report of a program that may have loaded packages which the worker changed. They are in no snapshot, so they cannot be put back for the check:
 * each is a finding. A check does not pass on a package that was there and is another now or hidden by another, nor on a new one that the work does not declare.
 */
export function withMeddling(report: CheckReport, changes: PackageChanges, declares: (path: string) => boolean): CheckReport {
  if (!isMeddled(changes)) return report
  const findings = [
    ...report.findings,
    ...named(changes.changed, wasChanged),
    ...named(changes.replaced, wasReplaced),
    ...named(changes.added, 'was installed by the worker; it is in no snapshot'),
    ...named(changes.removed, 'was installed and is gone'),
    ...named(changes.programs ?? [], wasInPath),
  ]
  if (report.outcome === 'pass' && changes.programs)
    return { ...report, findings, outcome: 'fail', summary: programsChanged(changes.programs) }
  const undeclared = changes.added.filter((path) => !declares(path))
  const others = [...changes.changed, ...changes.replaced]
  if (report.outcome !== 'pass' || others.length + undeclared.length === 0) return { ...report, findings }
  const summary =
    others.length > 0
      ? `${counted(others)} changed: what the check loaded is not what is judged. Install them again`
      : `${counted(undeclared)} added that no package.json or lock file declares for this check: what it loaded is not what is judged`
  return { ...report, findings, outcome: 'fail', summary }
}

/** The same for packages that the work of other tasks has changed: whoever did the work under check cannot mend them. What others added was not there for the check. */
export function withMeddlingOfOthers(report: CheckReport, changes: PackageChanges, others: readonly string[]): CheckReport {
  const { changed, replaced, removed, programs = [] } = changes
  const whose = others.length > 0 ? `the work of ${others.map((task) => visible(task)).join(' or ')}` : 'work that was not accepted'
  const findings = [
    ...report.findings,
    ...named([...changed, ...replaced], `is installed and was changed by ${whose}; it is in no snapshot`),
    ...named(removed, `was installed and was removed by ${whose}`),
    ...named(programs, wasInPath),
  ]
  if (report.outcome === 'pass' && programs.length > 0)
    return { ...report, findings, outcome: 'fail', summary: `${programsChanged(programs)}, by the work of others` }
  const touched = [...changed, ...replaced]
  if (report.outcome !== 'pass' || touched.length === 0) return { ...report, findings }
  const summary = `the check loads what ${whose} has changed: ${listed(touched)}. Install the same again as it was`
  return { ...report, findings, outcome: 'fail', summary }
}

/** The report of a check during which somebody touched what it may have loaded, each time that it was run: what it said is nothing about the work. */
export function disturbed(report: CheckReport, moved: readonly string[]): CheckReport {
  const shown = moved.slice(0, mostNamed)
  const findings = [...report.findings, ...shown.map((what) => `${what} while the check ran`)]
  const more = moved.length - shown.length
  const summary = `while the check ran, each time: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return { ...report, findings, outcome: 'error', summary }
}

function counted({ length }: readonly string[]): string {
  return length === 1 ? '1 installed package was' : `${length} installed packages were`
}

function named(packages: readonly string[], what: string): string[] {
  const shown = packages.slice(0, mostNamed).map((path) => `${visible(path)} ${what}`)
  return packages.length > shown.length ? [...shown, `and ${packages.length - shown.length} more`] : shown
}
