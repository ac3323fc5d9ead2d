import { resolve } from 'node:path'
import { digestOf } from '../../../contract/canonical.ts'
import { provenMission } from '../../../engine/audit/rows.ts'
import type { Engine } from '../../../engine/engine.ts'
import { heldInputs } from '../../../engine/gates/held.ts'
import { retryMission } from '../../../engine/gates/retry.ts'
import { stopMission } from '../../../engine/gates/stop.ts'
import { readAddition } from '../../../engine/project.ts'
import type { MissionRow } from '../../../engine/views/tasks.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { type ConfigFlags, findProject, readText } from '../project.ts'
import { heldInputText, type Standing, standingOf, standingText } from '../render/mission.ts'
import { table } from '../render/table.ts'
import { scoreText, stateWord } from '../render/task.ts'
import { notTheOwner } from '../owner.ts'
import { openExisting, refuse } from './run.ts'

/** `assay mission list`: every run of every mission. */
export async function missionListCommand(app: App, output: Output, flags: ConfigFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const missions = await engine.missions()
    const standing = await Promise.all(missions.map((row) => standingOf(engine, row)))
    if (output.json) for (const row of standing) output.jsonLine(row)
    else if (missions.length === 0) output.note('There are no missions yet.')
    else output.data(table(['mission', 'state', 'tasks', 'started', 'name'], standing.map(missionCells), output.columns))
    return 0
  })
}

function missionCells(row: Standing): string[] {
  return [row.id, standingText(row), String(row.tasks), row.started.slice(0, 19), oneLine(row.name, 40)]
}

/** `assay mission show`: its tasks and gates as they stand. */
export async function missionShowCommand(app: App, output: Output, id: string, flags: ConfigFlags): Promise<ExitCode> {
  return withMission(app, output, id, flags, async (engine, mission) => {
    const gates = await engine.gates(mission.id)
    const { rows, proven } = await provenMission(engine.parts.journal, await engine.taskRows(`${mission.id}/`))
    if (!proven) output.note('note: so many tasks are not each held against their events here; assay audit verify does that')
    const standing = await standingOf(engine, mission)
    const held = heldInputs(gates, rows)
    if (output.json) {
      const shown = gates.map(({ state: _state, ...gate }) => {
        const own = held.filter((input) => input.gate === gate.name).map(({ task, held: why }) => ({ task, held: why }))
        return { ...gate, ...(own.length > 0 && { heldInputs: own }) }
      })
      output.jsonLine({ ...standing, tasks: rows, gates: shown })
      return 0
    }
    output.data(`${mission.id}: ${oneLine(mission.name, 100)} (${standingText(standing)})`)
    output.data(
      table(
        ['state', 'score/bar', 'attempt', 'task'],
        rows.map((row) => [stateWord(row), scoreText(row), String(row.attempt), row.title]),
        output.columns,
      ),
    )
    for (const { name, status, reason } of gates)
      output.data(`gate ${oneLine(name, 60)}: ${status}${reason === undefined ? '' : `, ${oneLine(reason, 200)}`}`)
    for (const input of held) output.data(`gate ${heldInputText(input)}`)
    return 0
  })
}

export interface OwnerFlags extends ConfigFlags {
  reason?: string
}

/** `assay mission retry`: failed and skipped tasks are opened again, with one more attempt each; not those behind a gate that was stopped for good. */
export function missionRetryCommand(app: App, output: Output, id: string, flags: OwnerFlags): Promise<ExitCode> {
  return asOwner(app, output, id, flags, async (engine, mission, by) => {
    const { changed, refused } = await retryMission(engine, mission.id, { by, reason: flags.reason ?? '' })
    for (const { task, message } of refused) output.note(`${task}: ${message}`)
    const nothingDone = changed.length === 0 && refused.length > 0
    if (!nothingDone || output.json) sayChanged(output, mission.id, 'opened again', changed)
    return nothingDone ? 2 : 0
  })
}

/** `assay mission stop`: whatever is not finished fails, gates that ask are answered, and the run is over, on the owner's word. */
export function missionStopCommand(app: App, output: Output, id: string, flags: OwnerFlags): Promise<ExitCode> {
  return asOwner(app, output, id, flags, async (engine, mission, by) => {
    const { changed, refused, gates } = await stopMission(engine, mission.id, { by, reason: flags.reason ?? '' })
    for (const { task, message } of refused) output.note(`${task}: ${message}`)
    const ended = [...changed, ...gates.map((gate) => `${mission.id}/gate:${gate}`)]
    const row = (await engine.missions()).find(({ id: one }) => one === mission.id) ?? mission
    const open = row.finished === undefined
    const finishes = ended.length === 0 && mission.finished === undefined && !open
    if (finishes && !output.json)
      output.data(`${mission.id}: nothing in it was open any more; it is finished: ${standingText(await standingOf(engine, row))}`)
    else if (refused.length === 0 || ended.length > 0) sayChanged(output, mission.id, 'stopped', ended)
    if (open) output.note(`assay: ${mission.id} is still open`)
    return open ? 2 : 0
  })
}

/** `assay mission waive`: a missed quality threshold counts no longer. */
export function missionWaiveCommand(app: App, output: Output, id: string, flags: OwnerFlags): Promise<ExitCode> {
  return asOwner(app, output, id, flags, async (engine, mission, by) => {
    const waived = await engine.waiveThreshold(mission.id, { by, reason: flags.reason ?? '' })
    if (waived.ok) output.note(`WARN: ${by} waived the missed quality threshold of ${mission.id}: ${oneLine(flags.reason ?? '', 300)}`)
    if (!waived.ok) output.note(`assay: ${waived.error.message}`)
    else if (output.json) output.jsonLine({ kind: 'waived', mission: mission.id })
    else output.data(`${mission.id}: the missed quality threshold is waived`)
    return waived.ok ? 0 : 2
  })
}

/** `assay mission add`: tasks of a file that the run does not have yet become its tasks. */
export function missionAddCommand(app: App, output: Output, id: string, file: string, flags: ConfigFlags): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return Promise.resolve(refuse(output, found.error))
  const text = readText(resolve(output.terminal.cwd, file), file)
  if (!text.ok) return Promise.resolve(refuse(output, text.error))
  return asOwner(app, output, id, flags, async (engine, mission, by) => {
    if ((await engine.policyChanges(mission.id)).length > 0) {
      output.note(`assay: ${mission.id} was started under another policy: assay resume ${mission.id} says what changed`)
      return 2
    }
    const known = await engine.taskRows(`${mission.id}/`)
    const gates = (await engine.gates(mission.id)).map(({ name }) => name)
    const tasks = readAddition({ text: text.value, file }, { mission: mission.id, known, gates }, found.value.project)
    if (!tasks.ok) return refuse(output, tasks.error)
    const ids = tasks.value.map((task) => task.id)
    if (ids.length > 0) {
      const added = await engine.extend({ mission: mission.id, key: `owner:${digestOf(tasks.value)}`, tasks: tasks.value, by })
      if (!added.ok) output.note(`assay: ${added.error.message}`)
      if (!added.ok) return 2
    }
    if (output.json) output.jsonLine({ kind: 'added', mission: mission.id, tasks: ids })
    else
      output.data(
        ids.length === 0
          ? `${mission.id}: it has every task of ${file} already`
          : `added: ${ids.join(', ')}\nassay resume ${mission.id}   runs them`,
      )
    return 0
  })
}

function sayChanged(output: Output, mission: string, done: string, tasks: readonly string[]): void {
  if (output.json) output.jsonLine({ kind: done, mission, tasks })
  else output.data(tasks.length === 0 ? `${mission}: there is nothing to do` : `${done}: ${tasks.join(', ')}`)
}

/** With the owner's authority, or not at all. */
async function asOwner(
  app: App,
  output: Output,
  id: string,
  flags: ConfigFlags,
  use: (engine: Engine, mission: MissionRow, by: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  const authority = await app.authority(output.terminal)
  if (!authority.ok) {
    output.note(`assay: ${authority.message}`)
    return 2
  }
  return withMission(app, output, id, flags, async (engine, mission) => {
    if (await engine.isOwner(authority.token)) return use(engine, mission, authority.by)
    output.note(`assay: ${notTheOwner}`)
    return 2
  })
}

async function withMission(
  app: App,
  output: Output,
  id: string,
  flags: ConfigFlags,
  use: (engine: Engine, mission: MissionRow) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const missions = await engine.missions()
    const mission = missions.find((row) => row.id === id)
    if (mission) return use(engine, mission)
    output.note(`assay: there is no mission ${id}; there are: ${missions.map((row) => row.id).join(', ') || 'none'}`)
    return 2
  })
}

async function withEngine(app: App, output: Output, flags: ConfigFlags, use: (engine: Engine) => Promise<ExitCode>): Promise<ExitCode> {
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  try {
    return await use(opened.engine)
  } finally {
    await opened.engine.close()
  }
}
