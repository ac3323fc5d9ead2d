import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Case } from '../../contract/case.ts'
import { type CheckEntry, expandChecks } from '../../contract/check.ts'
import type { Digest } from '../../contract/canonical.ts'
import type { DeliverableKind } from '../../contract/deliverable/deliverable.ts'
import type { Refusal, Result } from '../../contract/errors.ts'
import type { CriterionEntry } from '../../contract/mission/mission.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import type { DoneFlag, HeldReason, TaskStatus } from '../../contract/task.ts'
import type { Score } from '../../contract/score.ts'
import type { Category } from '../../contract/verdict.ts'
import type { Engine } from '../../engine/engine.ts'
import { numberedCriteria } from '../../engine/project.ts'
import { reviewOnce } from '../../engine/review/one-shot.ts'
import type { SnapshotFile } from '../../ports/snapshots.ts'
import { readSubject } from '../subjects/subjects.ts'
import { readRequest, ReviewRequest as RequestShape, type Work } from './requests.ts'

export interface ReviewRequest {
  work: Work
  /** What was asked for. */
  task?: string
  title?: string
  criteria?: readonly CriterionEntry[]
  /** Run before any judge, after those of the configuration. */
  checks?: readonly CheckEntry[]
  /** Whoever made the work; never its own judge. */
  author?: string
  /** What the author says for it. */
  case?: Case
}

/** What a review came to. `verdict` is PASS only for work that the panel accepted. */
export interface ReviewResult {
  verdict: 'PASS' | 'FAIL' | 'INCONCLUSIVE'
  status: TaskStatus
  flag?: DoneFlag
  held?: HeldReason
  score?: Score
  bar: number
  category: Category | null
  concern: string
  /** What to do about it, point by point. */
  nextSteps: string[]
  judges: string[]
  /** Id under which the journal has it. */
  task: string
}

/** What was given, in the snapshot store. */
export interface TakenWork {
  kind: DeliverableKind
  snapshot: Digest
  base: Digest
  digest: string
  source?: string
}

export async function takeWork(engine: Engine, work: Work): Promise<Result<TakenWork>> {
  const { snapshots } = engine.parts
  const base = await snapshots.compose([])
  if ('text' in work || 'files' in work) {
    const given = 'text' in work ? { 'text.txt': work.text } : work.files
    const files: SnapshotFile[] = []
    for (const [path, content] of Object.entries(given)) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      files.push({ path, size: bytes.length, digest: await snapshots.putBytes(bytes), executable: false })
    }
    if (files.every(({ size }) => size === 0)) return refused('there is nothing to review: it is empty')
    const snapshot = await snapshots.compose(files.sort((one, other) => (one.path < other.path ? -1 : 1)))
    return { ok: true, value: { kind: 'text' in work ? 'text' : 'folder', snapshot, base, digest: snapshot } }
  }
  const cwd = process.cwd()
  const what = 'url' in work ? work.url : resolve(work.cwd ?? cwd, work.path)
  const request = { cwd, home: '', what, diff: undefined, stdin: undefined, allowPrivate: 'url' in work && work.allowPrivate === true }
  const subject = await readSubject(request, engine)
  if (!subject.ok) {
    const isGone = 'path' in work && !existsSync(what)
    return refused(subject.error.map(formatProblem).join('\n'), isGone ? 'not_found' : 'bad_command')
  }
  const { kind, snapshot, digest, source } = subject.value
  return { ok: true, value: { kind, snapshot, base: subject.value.base, digest, ...(source !== undefined && { source }) } }
}

function refused(message: string, code: Refusal['code'] = 'bad_command'): Result<never> {
  return { ok: false, error: { code, message } }
}

/** One look of the panel at one piece of work. */
export async function reviewWork(engine: Engine, given: ReviewRequest, stop: AbortSignal): Promise<Result<ReviewResult>> {
  const read = readRequest(RequestShape, given)
  if (!read.ok) return read
  const request = read.value
  const criteria = numberedCriteria(request.criteria ?? [])
  if (!criteria.ok) return refused(criteria.error.map(formatProblem).join('\n'))
  const taken = await takeWork(engine, request.work)
  if (!taken.ok) return taken
  const { config } = engine.parts
  const { snapshot, base } = taken.value
  const { author, case: argued } = request
  const end = await reviewOnce(
    engine,
    { title: request.title ?? 'Review', snapshot, base },
    {
      id: 'review',
      description: request.task ?? 'Judge this work as it stands.',
      criteria: criteria.value,
      checks: expandChecks([...config.checks, ...(request.checks ?? [])]),
      dimensions: config.review.dimensions,
      bar: config.review.threshold,
      ...(author !== undefined && { author }),
      ...(argued && { case: argued }),
    },
    stop,
  )
  const { state } = end
  const decision = state.decided.at(-1)?.decision
  const last = state.ledger.at(-1)
  const clean = state.done?.flag === 'clean'
  return {
    ok: true,
    value: {
      verdict: clean ? 'PASS' : state.status === 'failed' ? 'FAIL' : 'INCONCLUSIVE',
      status: state.status,
      bar: decision?.bar ?? state.spec.bar,
      category: decision?.category ?? last?.category ?? null,
      concern: decision?.concern ?? last?.concern ?? state.hold?.detail ?? '',
      nextSteps: decision?.points.map(({ text }) => text) ?? last?.points ?? [],
      judges: [...new Set(decision?.dimensions.flatMap(({ reasoning }) => reasoning.map(({ judge }) => judge)) ?? [])],
      task: end.task,
      ...(state.done && { flag: state.done.flag }),
      ...(state.hold && { held: state.hold.reason }),
      ...(decision?.score && { score: decision.score }),
    },
  }
}
