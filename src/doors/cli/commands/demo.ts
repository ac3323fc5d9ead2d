import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Engine, RunEnd } from '../../../engine/engine.ts'
import { readPlan } from '../../../engine/project.ts'
import type { App, ExitCode } from '../app.ts'
import { explanation } from '../demo/explanation.ts'
import { demoFiles } from '../demo/files.ts'
import { expectedSteps, type GateStep, handOver } from '../demo/handing-over.ts'
import { tamperedCopy } from '../demo/tampering.ts'
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
  if (!output.json) for (const line of explanation.before(shown)) output.page(wrap(line, output.columns))

  const found = findProject({ cwd: folder, env: {} }, {})
  if (!found.ok) return refuse(output, found.error)
  const plan = readPlan({ text: demoFiles['mission.yaml'] ?? '', file: 'mission.yaml' }, found.value.project)
  if (!plan.ok) return refuse(output, plan.error)
  const { project } = found.value
  const engine = await app.open({ folder, project, create: true })
  if (!engine) throw new Error('.assay/ could not be made')
  let played: Played
  try {
    const started = await engine.start(plan.value.plan)
    if (!started.ok) throw new Error(started.error.message)
    played = await play(app, engine, output, { mission: started.value.mission, folder, shown })
  } finally {
    await engine.close()
  }
  if (played.end.stopped) return 130
  return conclude(output, played, await tamperedCopy(app, folder, project), shown)
}

interface Played {
  end: RunEnd
  steps: GateStep[]
  verification: Awaited<ReturnType<Engine['verify']>>
  prefixes: string[]
}

async function play(
  app: App,
  engine: Engine,
  output: Output,
  { mission, folder, shown }: { mission: string; folder: string; shown: string },
): Promise<Played> {
  const progress = progressFor(output)
  const signals = stopOnSignals(output)
  try {
    const end = await engine.run({
      missions: [mission],
      stop: signals.stop,
      onBegin: (rows) => progress.begin(rows),
      onEvent: (event, row) => progress.event(event, row),
    })
    progress.end()
    if (!output.json) output.data(`${summary(output, [mission], end, ` -c ${shown}/assay.yaml`)}\n`)
    const steps = end.stopped ? [] : await handOver(app, engine, folder, signals.stop)
    const input = await engine.inputsOf(`${mission}/write-the-release-note`)
    return { end, steps, verification: await engine.verify(), prefixes: input.map((one) => one.prefix).filter(Boolean) }
  } finally {
    signals.dispose()
  }
}

function conclude(
  output: Output,
  { end, steps, verification, prefixes }: Played,
  tampered: Awaited<ReturnType<Engine['verify']>>,
  shown: string,
): ExitCode {
  const asScripted =
    verification.breaks.length === 0 &&
    tampered.breaks.length > 0 &&
    end.rows.every((row) => row.flag === expected[row.title]) &&
    steps.length === expectedSteps.length &&
    expectedSteps.every((pattern, index) => pattern.test(steps[index]?.came ?? ''))
  if (output.json) {
    const { counts, rows } = end
    output.jsonLine({ kind: 'demo', asScripted, folder: shown, counts, tasks: rows, gate: steps, verification, tampered })
    return asScripted ? 0 : 1
  }
  const width = Math.max(...steps.map(({ did }) => did.length))
  output.data('The gate to the owner')
  for (const { did, came } of steps) output.data(wrap(`  ${did.padEnd(width)}  ${came}`, output.columns, width + 4))
  output.data('')
  output.data(verificationText(output, verification))
  output.data(`a copy in which the reason of the bypass was rewritten: ${verificationText(output, tampered)}`)
  for (const line of asScripted ? explanation.after(shown, prefixes) : explanation.broken)
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
