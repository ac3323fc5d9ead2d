import type { Digest } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import type { CheckReport } from '../../contract/check.ts'
import { visible } from '../../contract/source/shown.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { TaskState } from '../../core/task/state.ts'
import { mostFindings, suspicions } from '../../core/verdict/suspicion.ts'
import type { PackageChanges } from '../../ports/workspace.ts'
import { rejectedBefore } from '../review/rejected-before.ts'
import { type Bench, type Runner, settleRefused } from './bench.ts'
import { declaredIn } from './checking/declared.ts'
import { groundOf } from './checking/ground.ts'
import { type Beside, besideOf, runInPlace } from './checking/in-place.ts'
import { disturbed, installedReports, isMeddled, loadsPackages, withMeddling, withMeddlingOfOthers } from './checking/installed.ts'
import { lookAround, noSurroundings, type Surroundings } from './checking/neighbours.ts'
import { type DueCheck, dueChecks } from './checking/regressions.ts'
import { workFiles } from './material.ts'
import { suspectFiles } from './suspect-files.ts'

/** Checks of one submission that run at once. */
const parallelChecks = 4
/** How often checks are run while somebody touches what they load; after that they have not passed. */
const mostRounds = 3

/** Runs the checks of a submission against its snapshot and reports them. Safe to repeat. */
export const runChecks: Runner = async (bench, lease, signal) => {
  const { journal, random } = bench.parts
  const { task, attempt, submission } = lease.payload as { task: string; attempt: number; submission: number }
  const { state } = await bench.tasks.load(task)
  if (state?.status !== 'checking' || state.current?.attempt !== attempt || state.current.submission !== submission)
    return void (await journal.complete(lease))
  const { content } = state.current
  const reports = content ? await checkContent(bench, state, content, signal) : []
  // A stop ends checks in the middle; what they said then is nothing about the work.
  if (signal.aborted) return void (await journal.release(lease, 0))
  const suspected = content ? await suspect(bench, state, content, reports) : []
  const before = await rejectedBefore(bench, state)
  const handled = await bench.tasks.handle(
    task,
    { type: 'report_checks', attempt, submission, reports, nonce: random.nonce(), suspicions: suspected, ...(before && { before }) },
    { actor: 'runtime', settles: lease },
  )
  await settleRefused(bench, lease, handled)
}

/** What every check that is due finds on this content, in the order of the list. */
export async function checkContent(
  bench: Bench,
  state: TaskState,
  content: Content,
  signal: AbortSignal,
  joined = false,
): Promise<CheckReport[]> {
  const marked = state.spec.workspace.kind === 'worktree' ? await conflictMarkers(bench, content) : []
  const due = await dueChecks(bench, state, bench.parts.workspaces.shared(state.spec)?.before ?? content.base, joined)
  const copies = new SharedCopies(bench)
  try {
    for (let round = 1; ; round += 1) {
      const packages = await bench.parts.workspaces.meddled(state.spec)
      const around = due.some(({ spec }) => loadsPackages(spec))
        ? await lookAround(bench, state.spec, runInPlace(bench, due))
        : noSurroundings
      const found = await checkAll(bench, due, { task: state.spec, content, packages, around }, copies, signal)
      const moved = signal.aborted ? [] : await around.moved()
      if (moved.length === 0) for (const { keep } of found) keep?.()
      if (moved.length === 0 || round === mostRounds) {
        const reports = found.map(({ report }) => (moved.length > 0 && loadsPackages(report) ? disturbed(report, moved) : report))
        return [...reports, ...marked, ...installedReports(packages)]
      }
    }
  } finally {
    await copies.dispose()
  }
}

/** What a check said, and how that is remembered for the next time, where it may be. */
interface Found {
  report: CheckReport
  keep?: () => void
}

async function checkAll(bench: Bench, due: readonly DueCheck[], work: Work, copies: SharedCopies, signal: AbortSignal): Promise<Found[]> {
  const found: Found[] = []
  const queue = [...due.entries()]
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) found[next[0]] = await checkOne(bench, next[1], work, copies, signal)
  }
  await Promise.all(Array.from({ length: Math.min(parallelChecks, queue.length) }, lane))
  return found
}

/** Markers that a merge left in the files are not resolved by leaving them there. */
async function conflictMarkers({ parts }: Bench, content: Content): Promise<CheckReport[]> {
  const files = await workFiles(parts.snapshots, content.snapshot, content.paths)
  const marked = files.filter(({ text }) => /^<{7} /m.test(text) && /^>{7} /m.test(text)).map(({ path }) => path)
  if (marked.length === 0) return []
  const summary = `conflict markers are left in ${marked.map((path) => visible(path)).join(', ')}`
  return [{ id: 'conflict-markers', kind: 'diff', outcome: 'fail', summary, output: summary, findings: [] }]
}

interface Work {
  task: TaskSpec
  content: Content
  packages: PackageChanges
  around: Surroundings
}

async function checkOne(bench: Bench, due: DueCheck, work: Work, copies: SharedCopies, signal: AbortSignal): Promise<Found> {
  const { id, spec } = due
  const { task, content, around } = work
  const meddled = loadsPackages(spec) && (isMeddled(work.packages) || isMeddled(around.packages))
  const { snapshots, checks, workspaces } = bench.parts
  const shared = workspaces.shared(task)
  const { programs, snapshot, base, findings } = await groundOf(snapshots, due, content, shared)
  const output = content.output ?? ''
  const looked = { snapshot, base: spec.kind === 'command' ? base : content.base, output }
  const known = meddled ? undefined : bench.reports.find(id, spec, looked)
  if (known) return { report: { ...known, findings: [...findings, ...known.findings] } }
  // A command gets a copy of its own: what it does to the files must not reach the next check. The others share one.
  const options = { packagesFor: task, withoutPackages: around.packages.added }
  const copy = spec.kind === 'command' ? await bench.parts.materialise(snapshot, options) : await copies.of(snapshot)
  const beside: Beside[] = []
  try {
    await besideOf(bench, programs, around.neighbours, beside)
    const context = {
      folder: copy.folder,
      output,
      changed: content.paths,
      baseFile: (path: string) => snapshots.read(content.base as Digest, path),
      programs,
      ...(shared && { live: shared.folder }),
      ...(shared?.kept && { kept: shared.kept }),
      ...(beside.length > 0 && { beside }),
      keep: (bytes: Uint8Array) => snapshots.putBytes(bytes),
    }
    const report = await checks.run(id, spec, context, signal)
    const whole = { ...report, findings: [...findings, ...report.findings] }
    if (meddled) {
      const own = withMeddling(whole, work.packages, await declaredIn(snapshots, snapshot))
      return {
        report: withMeddlingOfOthers(
          own,
          around.packages,
          around.neighbours.map((one) => one.spec.id),
        ),
      }
    }
    return { report: whole, ...(!signal.aborted && { keep: () => bench.reports.keep(spec, looked, report) }) }
  } finally {
    if (spec.kind === 'command') await copy.dispose()
    for (const one of beside) await one.dispose()
  }
}

/** One copy of each snapshot for all checks that only read. */
class SharedCopies {
  readonly #bench: Bench
  readonly #copies = new Map<string, ReturnType<Bench['parts']['materialise']>>()

  constructor(bench: Bench) {
    this.#bench = bench
  }

  of(snapshot: string): ReturnType<Bench['parts']['materialise']> {
    let copy = this.#copies.get(snapshot)
    if (!copy) {
      copy = this.#bench.parts.materialise(snapshot)
      this.#copies.set(snapshot, copy)
    }
    return copy
  }

  async dispose(): Promise<void> {
    const made = await Promise.allSettled(this.#copies.values())
    for (const copy of made) if (copy.status === 'fulfilled') await copy.value.dispose()
  }
}

/** Text of the worker that addresses the reviewer or looks like a verdict, wherever a judge would read it. */
export async function suspect(bench: Bench, state: TaskState, content: Content, reports: readonly CheckReport[]): Promise<string[]> {
  const inFiles = await suspectFiles(bench.parts.snapshots, content)
  const elsewhere = suspicions([
    { where: 'the case', text: textsIn(state.current?.case).join('\n') },
    { where: 'the output', text: content.output ?? '' },
    { where: 'file names', text: content.paths.join('\n') },
    ...reports.map(({ id, output }) => ({ where: `the output of check ${id}`, text: output })),
  ])
  return mostFindings([...elsewhere, ...inFiles])
}

/** Every text in a value, as it reads and not as JSON writes it. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
