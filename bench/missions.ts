/**
 * What the loop costs on top of what cannot be done without. Run: `npx node bench/missions.ts [--size small|full] [--large] [--dir folder]`.
 * Missions and floors take turns, each in a process of its own, bundled as the published package is.
 * `--large` runs a layered graph of 100,000 tasks beside one of 1,000, and nothing else: it takes ten minutes and more.
 */
import { parseArgs } from 'node:util'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { median, printTable, ratio } from './measure.ts'
import type { Floor } from './programs/floor.ts'
import type { MissionCost } from './programs/mission.ts'
import { openPrograms } from './programs/open.ts'
import { concurrency, type MissionShape, panelSize as judges, printingJudge, printingWorker } from './programs/project.ts'
import type { Spread } from './programs/waits.ts'

const sizes = {
  small: { rounds: 3, tasks: 50, many: 500, layers: 10, spawning: 20, large: [100, 400] },
  full: { rounds: 5, tasks: 200, many: 10_000, layers: 100, spawning: 200, large: [1_000, 100_000] },
}
/** Tasks in a layer: of a large graph, and of one that leaves workers free, so that no dependent waits for one. */
const [wide, narrow] = [100, concurrency / 2]
const { values: flags } = parseArgs({
  options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' }, large: { type: 'boolean', default: false } },
})
const size = sizes[flags.size === 'small' ? 'small' : 'full']
const programs = await openPrograms(['mission', 'floor'], flags.dir)
const mission = (shape: MissionShape) => programs.ask<MissionCost>('mission', shape)
const floor = (wanted: Floor) => programs.ask<number>('floor', wanted)

/** The run with the median time. */
const typical = (costs: MissionCost[]): MissionCost =>
  costs.find((cost) => cost.runMs === median(costs.map(({ runMs }) => runMs))) as MissionCost

async function scripted(): Promise<void> {
  const shape: MissionShape = { tasks: size.tasks, worker: 'prints', judge: 'scripted' }
  const [printing, writing, raw]: [MissionCost[], MissionCost[], number[]] = [[], [], []]
  for (let round = 0; round < size.rounds; round += 1) {
    const cost = await mission(shape)
    printing.push(cost)
    raw.push(await floor({ kind: 'syncs', count: cost.appends, bytes: 1500 }))
    writing.push(await mission({ ...shape, worker: 'writes' }))
  }
  const base = median(raw)
  const row = (name: string, { runMs, cpuMs, events }: MissionCost) => {
    return [name, runMs, runMs / size.tasks, cpuMs / size.tasks, (events * 1000) / runMs, ratio(runMs, base)]
  }
  printTable(
    `${size.tasks} tasks × ${judges} scripted judges, ${concurrency} at once, durable`,
    ['', 'ms', 'ms a task', 'of it CPU', 'events/s', 'against floor'],
    [
      [`floor: ${typical(printing).appends} × write + fdatasync`, base, base / size.tasks, '', '', ratio(base, base)],
      row('work is what is printed', typical(printing)),
      row('work is a new file', typical(writing)),
    ],
  )
}

async function commands(): Promise<void> {
  const tasks = size.spawning
  const steps = [[printingWorker], Array.from({ length: judges }, () => printingJudge)]
  const sandboxed = (await sandboxState()).usable
  const [ours, bare, boxed]: [MissionCost[], number[], number[]] = [[], [], []]
  for (let round = 0; round < size.rounds; round += 1) {
    bare.push(await floor({ kind: 'processes', tasks, steps, sandbox: false }))
    if (sandboxed) boxed.push(await floor({ kind: 'processes', tasks, steps, sandbox: true }))
    ours.push(await mission({ tasks, worker: printingWorker, judge: printingJudge }))
  }
  const [base, cost] = [median(bare), typical(ours)]
  const row = (name: string, ms: number) => [name, ms, ms / tasks, ratio(ms, base), boxed.length > 0 ? ratio(ms, median(boxed)) : '']
  printTable(
    `${tasks} tasks × ${judges} judges, all of them processes, ${concurrency} at once`,
    ['', 'ms', 'ms a task', 'against bare', 'against sandboxed'],
    [
      row(`floor: ${tasks * (1 + judges)} processes, bare`, base),
      ...(sandboxed ? [row('floor: the same, each in a sandbox', median(boxed))] : []),
      row(`Assay${sandboxed ? ', each in a sandbox' : ', without a sandbox'}`, cost.runMs),
    ],
  )
}

const named = (tasks: number, graph = '') => `${tasks.toLocaleString('en')} tasks${graph}`

async function growth(): Promise<void> {
  const shape = (tasks: number, graph: MissionShape['graph'] = 'flat'): MissionShape => ({
    tasks,
    worker: 'prints',
    judge: 'scripted',
    graph,
  })
  const { tasks, many, layers } = size
  await compare([
    [named(tasks), shape(tasks)],
    [named(many), shape(many)],
    [named(many, ` in ${layers} layers`), shape(many, layers)],
    [named(many, ` in layers of ${narrow}`), shape(many, many / narrow)],
    [named(many, ', all after the first'), shape(many, 'fan-out')],
    [named(many, ', the last after all'), shape(many, 'fan-in')],
  ])
}

async function large(): Promise<void> {
  await compare(
    size.large.map((tasks) => {
      return [named(tasks, ` in layers of ${wide}`), { tasks, worker: 'prints', judge: 'scripted', graph: tasks / wide }]
    }),
  )
}

/** Each mission once, against the first. */
async function compare(shapes: [string, MissionShape][]): Promise<void> {
  const found: { name: string; tasks: number; cost: MissionCost }[] = []
  for (const [name, shape] of shapes) found.push({ name, tasks: shape.tasks, cost: await mission(shape) })
  const [first] = found
  if (!first) return
  const base = { ms: first.cost.runMs / first.tasks, cpu: first.cost.cpuMs / first.tasks }
  printTable(
    'Cost of a task as missions grow (goal: ≤ 1.2 ×, below 500 MB)',
    ['', 'start, ms a task', 'run, ms a task', 'against few', 'of it CPU', 'against few', 'peak MB'],
    found.map(({ name, tasks, cost: { startMs, runMs, cpuMs, peakMb } }) => {
      const [ms, cpu] = [runMs / tasks, cpuMs / tasks]
      return [name, startMs / tasks, ms, ratio(ms, base.ms), cpu, ratio(cpu, base.cpu), peakMb]
    }),
  )
  printTable(
    'From the end of what a task depends on, in ms (goal: started at p99 below 50 where a worker is free)',
    ['', 'ready: median', 'p99', 'most', 'started: median', 'p99', 'most'],
    found.flatMap(({ name, cost: { waits } }) => (waits ? [[name, ...figures(waits.ready), ...figures(waits.started)]] : [])),
  )
}

const figures = ({ median, p99, most }: Spread): number[] => [median, p99, most]

try {
  if (flags.large) await large()
  else {
    await scripted()
    await commands()
    await growth()
  }
} finally {
  programs.close()
}
