import { resolve } from 'node:path'
import type { Problem } from '../../../contract/source/problem.ts'
import { formatProblem } from '../../../contract/source/problem.ts'
import type { Engine, RunEnd } from '../../../engine/engine.ts'
import { missionShapeProblems, readPlan } from '../../../engine/project.ts'
import type { App, ExitCode } from '../app.ts'
import { notTheOwner } from '../owner.ts'
import { oneLine, type Output } from '../output.ts'
import { liveProgress } from '../progress/live.ts'
import { jsonProgress, plainProgress } from '../progress/plain.ts'
import type { Progress } from '../progress/progress.ts'
import { type ConfigFlags, findProject, type FoundProject, readText } from '../project.ts'
import { type Standing, standingOf, standingText } from '../render/mission.ts'
import { summary } from '../render/summary.ts'
import { stopOnSignals } from '../signals.ts'
import { verificationText } from '../render/verification.ts'

export interface RunFlags extends ConfigFlags {
  fresh?: boolean
  acceptPolicy?: boolean
}

/** `assay run <mission>`: from the file to the honest end of every task. */
export async function runCommand(app: App, output: Output, mission: string, flags: RunFlags): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  const text = readText(resolve(output.terminal.cwd, mission), mission)
  if (!found.ok)
    return refuse(output, [...found.error, ...(text.ok ? missionShapeProblems({ text: text.value, file: mission }) : text.error)])
  if (!text.ok) return refuse(output, text.error)
  const { project } = found.value
  const plan = readPlan({ text: text.value, file: mission }, project)
  if (!plan.ok) return refuse(output, plan.error)
  const problems = await app.problems(found.value)
  if (problems.length > 0) return refuse(output, problems)
  for (const notice of [...project.parsed.notices, ...plan.value.notices]) output.note(`note: ${formatProblem(notice)}`)

  const engine = await app.open({ folder: found.value.folder, project, create: true })
  if (!engine) throw new Error('.assay/ could not be made')
  try {
    if (await isBroken(engine, output)) return 3
    const started = await engine.start(plan.value.plan, { fresh: flags.fresh ?? false })
    if (!started.ok && started.error.code === 'policy_changed') {
      await sayPolicyChanges(engine, output, started.error.mission)
      return 2
    }
    if (!started.ok) {
      output.note(`assay: ${started.error.message}`)
      output.note(`       assay resume ${started.error.mission}   goes on with it; assay run --fresh ${mission} starts another run`)
      return 2
    }
    if (started.value.joined) output.note(`note: ${started.value.mission} was not finished; going on with it`)
    return await drive(engine, output, [started.value.mission], flags)
  } finally {
    await engine.close()
  }
}

/** `assay resume [mission]`: goes on with what was not finished. */
export async function resumeCommand(app: App, output: Output, mission: string | undefined, flags: RunFlags): Promise<ExitCode> {
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  const { engine } = opened
  try {
    if (await isBroken(engine, output)) return 3
    const missions = await engine.missions()
    const chosen =
      mission === undefined ? missions.filter((row) => row.finished === undefined) : missions.filter((row) => row.id === mission)
    if (mission !== undefined && chosen.length === 0) {
      output.note(`assay: there is no mission ${mission}; there are: ${missions.map((row) => row.id).join(', ') || 'none'}`)
      return 2
    }
    if (chosen.length === 0) return await sayNothingToResume(engine, output)
    const going: string[] = []
    for (const { id } of chosen) {
      if (mission === undefined && !flags.acceptPolicy && (await isLeftReview(engine, id))) {
        output.note(`note: ${id} was a review under another configuration; it is left as it is (assay why ${id}/subject)`)
        continue
      }
      const refused = flags.acceptPolicy ? await adopt(app, engine, output, id) : await sayPolicyChanges(engine, output, id)
      if (refused) return 2
      going.push(id)
    }
    return going.length === 0 ? await sayNothingToResume(engine, output) : await drive(engine, output, going, flags)
  } finally {
    await engine.close()
  }
}

async function sayNothingToResume(engine: Engine, output: Output): Promise<ExitCode> {
  // Whoever finished the last one may have died before it said what became of its deadlines.
  await engine.deadlines.look()
  const pending = await engine.sendPending()
  if (pending > 0) output.note(`note: ${pending} ${pending === 1 ? 'notification waits' : 'notifications wait'} to be sent again later`)
  const last = await lastRun(engine)
  const ended = last ? `; the last, ${last.id}, ended ${standingText(last)}` : ''
  output.note(`Nothing to resume: every mission is finished${ended}. See assay task list.`)
  if (last?.outcome === 'failed') return 1
  const waits = last?.outcome === 'inconclusive' || (last?.outcome === 'unreviewed' && engine.parts.rules.policy.review.evaluate)
  return waits ? 3 : 0
}

/** The latest run of a mission file that is finished, as it stands. */
async function lastRun(engine: Engine): Promise<Standing | undefined> {
  for (const row of (await engine.missions()).reverse())
    if (row.finished !== undefined && !(await isOneShot(engine, row.id))) return standingOf(engine, row)
  return undefined
}

/** A review of one thing is no mission of anybody's. */
async function isOneShot(engine: Engine, mission: string): Promise<boolean> {
  const rows = await engine.taskRows(`${mission}/`)
  return rows.length === 1 && rows[0]?.id === `${mission}/subject` && rows[0].outside === true
}

/** A one-shot review that came to no end, under flags or a configuration of its own: nobody who resumes missions asks for it. */
async function isLeftReview(engine: Engine, mission: string): Promise<boolean> {
  return (await isOneShot(engine, mission)) && (await engine.policyChanges(mission)).length > 0
}

/** Names what changed since a mission was started; false where nothing did. */
async function sayPolicyChanges(engine: Engine, output: Output, mission: string): Promise<boolean> {
  const changes = await engine.policyChanges(mission)
  if (changes.length === 0) return false
  output.note(`assay: ${mission} was started under another policy; it goes on only under its own:`)
  for (const change of changes) output.note(`  ${oneLine(change)}`)
  output.note(
    `Put the configuration back, start a new run with assay run --fresh, or let the new one take over: assay resume ${mission} --accept-policy`,
  )
  return true
}

/** The owner lets the changed policy take over; true where that is refused. */
async function adopt(app: App, engine: Engine, output: Output, mission: string): Promise<boolean> {
  const changes = await engine.policyChanges(mission)
  if (changes.length === 0 && (await engine.policyStanding()).accepted) return false
  const authority = await app.authority(output.terminal)
  const owner = authority.ok && (await engine.isOwner(authority.token))
  if (!authority.ok || !owner) {
    output.note(`assay: ${authority.ok ? notTheOwner : authority.message}`)
    return true
  }
  const adopted = await engine.acceptPolicy(mission, authority.by)
  if (!adopted.ok) output.note(`assay: ${adopted.error.message}`)
  else
    output.note(
      `${mission}: the changed policy is in force for ${adopted.value} tasks (${changes.map((change) => oneLine(change)).join('; ')})`,
    )
  return !adopted.ok
}

async function drive(engine: Engine, output: Output, missions: string[], { config }: ConfigFlags): Promise<ExitCode> {
  if (!(await engine.parts.sandboxed()))
    output.note('note: no sandbox here (bwrap of the package bubblewrap): workers and checks can reach .assay/')
  const progress = progressFor(output)
  const signals = stopOnSignals(output)
  try {
    const end = await engine.run({
      missions,
      stop: signals.stop,
      onBegin: (rows) => progress.begin(rows),
      onEvent: (event, row) => progress.event(event, row),
    })
    progress.end()
    report(output, missions, end, config === undefined ? '' : ` -c ${quoted(config)}`)
    return end.stopped ? 130 : end.exitCode
  } finally {
    signals.dispose()
  }
}

/** A live panel for a person at a terminal, JSON where asked for, plain lines otherwise. */
export function progressFor(output: Output): Progress {
  const { stderr, env } = output.terminal
  if (output.json) return jsonProgress(output)
  return stderr.isTTY === true && env.TERM !== 'dumb' && !env.CI ? liveProgress(output) : plainProgress(output)
}

/** A journal that somebody edited, or that is damaged, is not run on. */
export async function isBroken(engine: Engine, output: Output): Promise<boolean> {
  const verification = await engine.verify()
  if (verification.breaks.length === 0) return false
  output.page(verificationText(output, verification))
  output.note(
    'assay: the journal was changed from outside or is damaged; nothing is run on it. assay reset puts it away, a backup brings it back.',
  )
  return true
}

/** A word for the shell that it reads as one. */
const quoted = (word: string): string => (/^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

function report(output: Output, missions: string[], end: RunEnd, configFlag: string): void {
  const waivedGates = end.gates.filter(({ status }) => status === 'waived').map(({ mission, name }) => ({ mission, name }))
  if (output.json)
    output.jsonLine({
      kind: 'result',
      missions,
      outcome: end.outcome,
      exitCode: end.stopped ? 130 : end.exitCode,
      stopped: end.stopped,
      counts: end.counts,
      judging: end.judging,
      ...(end.awaited.length > 0 && { awaited: end.awaited }),
      ...(end.requests.length > 0 && { requests: end.requests }),
      ...(end.heldInputs.length > 0 && { heldInputs: end.heldInputs }),
      ...(end.missedThresholds.length > 0 && { missedThresholds: end.missedThresholds }),
      ...(end.waivedThresholds.length > 0 && { waivedThresholds: end.waivedThresholds }),
      ...(waivedGates.length > 0 && { waivedGates }),
      ...(end.withheld.length > 0 && { withheld: end.withheld }),
      ...(end.untold && { notifications: end.untold }),
      tasks: end.rows,
    })
  else output.data(summary(output, missions, end, configFlag))
}

/** Opens the project's journal; says what is missing where there is none. */
export async function openExisting(
  app: App,
  output: Output,
  flags: ConfigFlags,
): Promise<{ engine: Engine; found: FoundProject } | ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const engine = await app.open({ folder: found.value.folder, project: found.value.project, create: false })
  if (engine) return { engine, found: found.value }
  output.note(`assay: there is no .assay/ in ${found.value.folder}; assay run <mission> makes one`)
  return 2
}

/** Bad usage or configuration: nothing was started; every problem is listed. */
export function refuse(output: Output, problems: readonly Problem[]): ExitCode {
  if (output.json) output.jsonLine({ kind: 'error', problems })
  else for (const problem of problems) output.note(formatProblem(problem))
  output.note(`assay: ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}; nothing was started`)
  return 2
}
