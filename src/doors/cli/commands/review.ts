import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DeliverableId } from '../../../contract/deliverable/deliverable.ts'
import { expandChecks } from '../../../contract/check.ts'
import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { Criterion } from '../../../contract/task.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Project } from '../../../engine/project.ts'
import { reviewOnce } from '../../../engine/review/one-shot.ts'
import type { App, ExitCode, Subject } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { type ConfigFlags, findProject, knobFlags } from '../project.ts'
import { render } from '../report/formats.ts'
import type { ReviewReport } from '../report/report.ts'
import { criteriaOf } from '../review/criteria.ts'
import { type JudgeFlags, projectFromEnvironment } from '../review/from-environment.ts'
import { judgeDeliverable } from '../review/of-deliverable.ts'
import { reportOf } from '../review/report-of.ts'
import { type Sink, sinksOf, unwritable } from '../review/sinks.ts'
import { stopOnSignals } from '../signals.ts'
import { isBroken, refuse } from './run.ts'

export interface ReviewFlags extends ConfigFlags, JudgeFlags {
  criteria?: string[]
  task?: string
  deliverable?: string
  producer?: string
  title?: string
  diff?: string
  format?: string[]
  allowPrivate?: boolean
  json?: boolean
}

/** `assay review <path | url | ->`: one look at one thing, against criteria; the door for CI. */
export async function reviewCommand(app: App, output: Output, what: string | undefined, flags: ReviewFlags): Promise<ExitCode> {
  const wanted = sinksOf(output, flags)
  if (!wanted.ok) return refuse(output, wanted.error)
  if ((what === undefined) === (flags.diff === undefined))
    return refuse(output, [usage('name one thing to review: a file, a folder, an address, `-`, or --diff base..head')])
  if (flags.producer === 'runtime' || flags.producer === 'owner')
    return refuse(output, [usage(`--producer ${flags.producer}: nobody brings work as ${flags.producer}; name the agent that made it`)])
  const criteria = criteriaOf(flags.criteria ?? [], output.terminal.cwd)
  if (!criteria.ok) return refuse(output, criteria.error)
  const found = flags.deliverable === undefined ? findReviewProject(output, flags) : findDeliverableProject(output, flags)
  if (!found.ok) return refuse(output, found.error)
  const { folder, project } = found.value
  const problems = await app.problems({ folder, project })
  if (problems.length > 0) return refuse(output, problems)
  const engine = await app.open({ folder, project, create: true })
  if (!engine) throw new Error('.assay/ could not be made')
  try {
    if (flags.deliverable !== undefined && (await isBroken(engine, output))) return 3
    if (flags.deliverable !== undefined && flags.eval === false)
      output.note('note: with --no-eval nobody judges it: its checks run, it stays UNREVIEWED, and the gate stays shut for it')
    const { cwd } = output.terminal
    const stdin = what === '-' ? await readAll(process.stdin) : undefined
    const subject = await app.subject(
      { cwd, home: join(folder, '.assay'), what: what ?? '', diff: flags.diff, stdin, allowPrivate: flags.allowPrivate ?? false },
      engine,
    )
    if (!subject.ok) return refuse(output, subject.error)
    const lost = unwritable(wanted.value, cwd)
    if (lost.length > 0) return refuse(output, lost)
    const report = await judge(engine, output, subject.value, { ...flags, criteria: criteria.value })
    if (report === 'stopped') return 130
    if ('refused' in report) return refuse(output, [usage(report.refused)])
    for (const sink of wanted.value) deliver(app, output, sink, report)
    return report.exitCode
  } finally {
    await engine.close()
  }
}

async function judge(
  engine: Engine,
  output: Output,
  subject: Subject,
  flags: Omit<ReviewFlags, 'criteria'> & { criteria: Criterion[] },
): Promise<ReviewReport | 'stopped' | { refused: string }> {
  const { criteria, task, deliverable } = flags
  const { config } = engine.parts
  const signals = stopOnSignals(output)
  const began = performance.now()
  try {
    if (!output.json) output.note(`Reviewing ${subject.kind} ${oneLine(subject.name)} …`)
    if (deliverable !== undefined) return await judgeDeliverable(engine, subject, { ...flags, deliverable }, signals.stop)
    const end = await reviewOnce(
      engine,
      { title: `Review of ${subject.name}`, snapshot: subject.snapshot, base: subject.base },
      {
        id: 'review',
        description: task ?? `Judge this ${subject.kind} as it stands.`,
        criteria,
        checks: expandChecks(config.checks),
        dimensions: config.review.dimensions,
        bar: config.review.threshold,
      },
      signals.stop,
    )
    if (end.stopped) return 'stopped'
    return reportOf(subject, end, config.review.evaluate, performance.now() - began)
  } finally {
    signals.dispose()
  }
}

/** The configuration here or above; without one, a judge from flags and environment. */
function findReviewProject(output: Output, flags: ReviewFlags): Result<{ folder: string; project: Project }, Problem[]> {
  const { cwd, env } = output.terminal
  const asksForModel = flags.provider !== undefined || flags.model !== undefined || flags.baseUrl !== undefined
  if (!asksForModel) {
    const found = findProject(output.terminal, flags)
    if (!found.ok || found.value.file !== null) return found
  }
  const project = projectFromEnvironment(flags, env, knobFlags(flags))
  return project.ok ? { ok: true, value: { folder: cwd, project: project.value } } : project
}

/** A verdict on a deliverable counts under the policy of the project that its card is sent in: there must be one. */
function findDeliverableProject(output: Output, flags: ReviewFlags): Result<{ folder: string; project: Project }, Problem[]> {
  const id = DeliverableId.safeParse(flags.deliverable)
  if (!id.success) return { ok: false, error: [usage(`--deliverable ${flags.deliverable}: ${id.error.issues[0]?.message}`)] }
  if (flags.provider !== undefined || flags.model !== undefined || flags.baseUrl !== undefined)
    return {
      ok: false,
      error: [usage('a deliverable is judged by the judges of the project: leave out --provider, --model and --base-url')],
    }
  const found = findProject(output.terminal, flags)
  if (!found.ok || found.value.file !== null) return found
  const message = 'a deliverable is reviewed under the policy of a project, and there is no assay.yaml here or above'
  return { ok: false, error: [{ ...usage(message), fix: 'assay init writes one' }] }
}

function deliver(app: App, output: Output, { format, file }: Sink, report: ReviewReport): void {
  const rendering = {
    version: app.version,
    stopToken: randomBytes(16).toString('hex'),
    columns: output.columns,
    colour: output.colour && file === undefined,
  }
  const text = render(format, report, rendering)
  if (file === undefined) return output.data(text)
  const path = resolve(output.terminal.cwd, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${text}\n`)
}

function usage(message: string): Problem {
  return { file: 'assay review', path: '', message }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks)
}
