import { provenList, provenRow } from '../../../engine/audit/rows.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { TaskDetail } from '../../../engine/task/detail.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { degradedWords } from '../render/event.ts'
import { paintState, scoreText, stateWord } from '../render/task.ts'
import { table } from '../render/table.ts'
import { findNamed } from './named.ts'
import { openExisting } from './run.ts'

/** `assay task list`. */
export async function taskListCommand(app: App, output: Output, flags: ConfigFlags & { mission?: string }): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const found = await engine.taskRows(flags.mission === undefined ? '' : `${flags.mission}/`)
    const { rows, proven } = await provenList(engine.parts.journal, found)
    if (!proven) output.note('note: so many finished tasks are not each held against their events here; assay audit verify does that')
    if (output.json) for (const row of rows) output.jsonLine(row)
    else if (rows.length === 0) output.note('No tasks yet: assay run <mission> starts some.')
    else
      output.data(
        table(
          ['state', 'score/bar', 'attempt', 'id'],
          rows.map((row) => [stateWord(row), scoreText(row), String(row.attempt), row.id]),
          output.columns,
        ),
      )
    return 0
  })
}

/** `assay task show <task>`. */
export async function taskShowCommand(app: App, output: Output, id: string, flags: ConfigFlags): Promise<ExitCode> {
  return withTask(app, output, id, flags, async (engine, row) => {
    const detail = await engine.detail(row.id)
    if (!detail) return 2
    if (output.json) output.jsonLine(detail)
    else for (const line of detailLines(output, row, detail)) output.data(line)
    return 0
  })
}

/** `assay ledger <task>`. */
export async function ledgerCommand(app: App, output: Output, id: string, flags: ConfigFlags): Promise<ExitCode> {
  return withTask(app, output, id, flags, async (engine, row) => {
    const detail = await engine.detail(row.id)
    const entries = detail?.ledger ?? []
    if (output.json) for (const entry of entries) output.jsonLine(entry)
    else if (entries.length === 0) output.note(`No decision on ${row.id} yet.`)
    else for (const entry of entries) for (const line of ledgerLines(output, entry)) output.data(line)
    return 0
  })
}

function ledgerLines(output: Output, entry: TaskDetail['ledger'][number]): string[] {
  const score = entry.score ? `  ${entry.score.on5} (${entry.score.on100}/100)` : ''
  const word = entry.outcome === 'pass' ? output.paint('green', 'PASS') : output.paint('yellow', 'REJECTED')
  return [
    `#${entry.entry}  attempt ${entry.attempt}  ${word}${score}  ${entry.category ?? ''}  (${entry.source})`.trimEnd(),
    `    ${oneLine(entry.concern, 400)}`,
    ...entry.points.map((point) => `    → ${oneLine(point, 400)}`),
    ...(entry.pointers.length > 0 ? [`    at ${oneLine(entry.pointers.join(', '), 300)}`] : []),
  ]
}

function detailLines(output: Output, row: TaskRow, detail: TaskDetail): string[] {
  const lines = [
    `${output.paint('bold', oneLine(row.title))}  ${paintState(output, row)}`,
    `id        ${row.id}`,
    `assignee  ${row.assignee}   attempts ${detail.charged} of ${detail.allowed}   priority ${row.priority}`,
    ...(row.score
      ? [`score     ${row.score.on5} (${row.score.on100}/100) against a bar of ${detail.decidedBar}`]
      : [`bar       ${detail.bar}`]),
    ...(row.detail ? [`because   ${oneLine(row.detail, 400)}`] : []),
    ...(row.content ? [`content   ${row.content}`] : []),
    ...(detail.workspace ? [`workspace ${detail.workspace}`] : []),
    ...(detail.unsandboxed ? ['sandbox   none: its last attempt ran unsandboxed and could do what you can'] : []),
    ...detail.criteria.map((criterion) => `${criterion.id.padEnd(9)} ${oneLine(criterion.text, 200)}${criterion.hard ? '' : ' (soft)'}`),
    ...(detail.case ? [`case      ${oneLine(detail.case.summary, 400)}`] : []),
    ...detail.checks.flatMap((check) => checkLines(output, check)),
    ...detail.judges.map((judge) => `${judge.judge.padEnd(9)} ${oneLine(judge.said, 400)}`),
    ...(detail.degraded ? [`panel     quorum ${detail.degraded.quorum}, ${degradedWords}`] : []),
    ...detail.vetoes.map((veto) => `VETO      ${veto.criterion} by ${veto.judge}`),
    ...detail.requests.map((request) => `asks you  ${request.request}: ${request.answers.join(', ')}`),
  ]
  return [...lines, `next      assay ledger ${row.id}`]
}

/** Lines of a failing check's output that are shown: its end, where most programs say what went wrong. */
const shownLines = 20

function checkLines(output: Output, { id, outcome, summary, output: printed }: TaskDetail['checks'][number]): string[] {
  const head = `check     ${oneLine(id, 60)}  ${outcome === 'pass' ? 'pass' : output.paint('red', outcome)}: ${oneLine(summary, 300)}`
  if (outcome === 'pass') return [head]
  const lines = printed.trimEnd() === '' ? [] : printed.trimEnd().split('\n')
  const left = Math.max(0, lines.length - shownLines)
  const more = left > 0 ? [`          [${left} lines before these: assay task show --json, field checks]`] : []
  return [head, ...more, ...lines.slice(left).map((line) => `          ${oneLine(line, 200)}`)]
}

/** Opens the engine and finds a task by its name, or by that of a deliverable that is judged in it. */
export async function withTask(
  app: App,
  output: Output,
  id: string,
  flags: ConfigFlags,
  use: (engine: Engine, row: TaskRow, deliverable?: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const found = findNamed(id, await engine.taskRows(), await engine.deliverables())
    if (found.ok) return use(engine, await provenRow(engine.parts.journal, found.task), found.deliverable)
    output.note(`assay: ${found.problem}`)
    return 2
  })
}

export async function withEngine(
  app: App,
  output: Output,
  flags: ConfigFlags,
  use: (engine: Engine) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  try {
    return await use(opened.engine)
  } finally {
    await opened.engine.close()
  }
}
