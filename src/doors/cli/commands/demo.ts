import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Engine, RunEnd } from '../../../engine/engine.ts'
import { readPlan } from '../../../engine/project.ts'
import type { App, ExitCode } from '../app.ts'
import { demoFiles } from '../demo/files.ts'
import { explanation } from '../demo/explanation.ts'
import type { Output } from '../output.ts'
import { findProject } from '../project.ts'
import { summary } from '../render/summary.ts'
import { wrap } from '../render/table.ts'
import { verificationText } from '../render/verification.ts'
import { stopOnSignals } from '../signals.ts'
import { progressFor, refuse } from './run.ts'

/** How each task of the demo must end; anything else is a fault of Assay, and the demo says so. */
const expected: Record<string, string> = {
  'Greet the user': 'clean',
  'Compute the tip': 'clean',
  'Write the help text': 'clean',
  'Summarise the feedback': 'clean',
  'Round the amounts': 'below-threshold',
  'Write the release note': 'clean',
}

/** `assay demo`: writes a small project into a folder of its own, runs it for real, and says what was seen. */
export async function demoCommand(app: App, output: Output, name: string | undefined): Promise<ExitCode> {
  const folder = freshFolder(output.terminal.cwd, name)
  if (folder === null) {
    output.note(`assay: ${name} is not empty; name another folder`)
    return 2
  }
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(demoFiles)) writeFileSync(join(folder, file), text)
  const shown = relative(output.terminal.cwd, folder) || '.'
  if (!output.json) for (const line of explanation.before(shown)) output.note(wrap(line, output.columns))

  const found = findProject({ cwd: folder, env: {} }, {})
  if (!found.ok) return refuse(output, found.error)
  const plan = readPlan({ text: demoFiles['mission.yaml'] ?? '', file: 'mission.yaml' }, found.value.project)
  if (!plan.ok) return refuse(output, plan.error)
  const engine = await app.open({ folder, project: found.value.project, create: true })
  if (!engine) throw new Error('.assay/ could not be made')
  try {
    const started = await engine.start(plan.value.plan)
    if (!started.ok) throw new Error(started.error.message)
    return await show(engine, output, started.value.mission, shown)
  } finally {
    await engine.close()
  }
}

async function show(engine: Engine, output: Output, mission: string, shown: string): Promise<ExitCode> {
  const progress = progressFor(output)
  const signals = stopOnSignals(output)
  let end: RunEnd
  try {
    end = await engine.run({
      missions: [mission],
      stop: signals.stop,
      onBegin: (rows) => progress.begin(rows),
      onEvent: (event, row) => progress.event(event, row),
    })
  } finally {
    signals.dispose()
  }
  progress.end()
  const verification = await engine.verify()
  const asScripted = verification.breaks.length === 0 && end.rows.every((row) => row.flag === expected[row.title])
  if (output.json) {
    output.jsonLine({ kind: 'demo', asScripted, folder: shown, counts: end.counts, tasks: end.rows, verification })
    return end.stopped ? 130 : asScripted ? 0 : 1
  }
  output.data(summary(output, [mission], end, ` -c ${shown}/assay.yaml`))
  output.data('')
  output.data(verificationText(output, verification))
  if (end.stopped) return 130
  const input = await engine.inputsOf(`${mission}/write-the-release-note`)
  for (const line of asScripted ? explanation.after(shown, input.map((one) => one.prefix).filter(Boolean)) : explanation.broken)
    output.data(wrap(line, output.columns, line.startsWith('  ') ? 26 : 0))
  return asScripted ? 0 : 1
}

/** The named folder if it is empty or new; without a name, the first free one. */
function freshFolder(cwd: string, name: string | undefined): string | null {
  if (name !== undefined) {
    const folder = resolve(cwd, name)
    return existsSync(folder) && readdirSync(folder).length > 0 ? null : folder
  }
  for (let number = 1; ; number += 1) {
    const folder = join(cwd, number === 1 ? 'assay-demo' : `assay-demo-${number}`)
    if (!existsSync(folder)) return folder
  }
}
