/** One mission in a process of its own, so that its peak of memory is its own. Prints what it took as one line of JSON. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPlan, readProject } from '../src/engine/project.ts'
import { openEngine } from '../src/main/open-engine.ts'
import type { Journal } from '../src/ports/journal.ts'
import { timed } from './measure.ts'

/** What to run; passed as JSON in the first argument. */
export interface MissionShape {
  tasks: number
  brains: 'scripted' | 'command'
  /** How tasks depend on one another: not at all, on two of the layer before (of so many layers), all on the first, or the last on all. */
  graph?: 'flat' | 'fan-out' | 'fan-in' | number
  /** Whether the worker leaves a file of its own, or only prints. */
  files?: boolean
  dir?: string
}

export interface MissionCost {
  planMs: number
  startMs: number
  runMs: number
  /** Processor time of the run, all threads of this process. */
  cpuMs: number
  events: number
  appends: number
  claims: number
  peakMb: number
}

export const concurrency = 8
export const workerScript = 'echo done'
export const judgeScript = 'echo "SCORE: 90"'

function configText(shape: MissionShape): string {
  const scripted = shape.brains === 'scripted'
  return JSON.stringify({
    version: 1,
    brains: scripted
      ? { hands: { kind: 'scripted', file: 'hands.json' }, eyes: { kind: 'scripted', file: 'eyes.json' } }
      : { hands: { kind: 'command', argv: ['sh', '-c', workerScript] }, eyes: { kind: 'command', argv: ['sh', '-c', judgeScript] } },
    agents: {
      dev: { role: 'engineer', brain: 'hands' },
      ada: { role: 'reviewer', brain: 'eyes' },
      bob: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
      cyn: { role: 'reviewer', brain: 'eyes', instructions: 'Try to break it.' },
    },
    review: { panel: { size: 3, mode: 'full' } },
    concurrency,
  })
}

function missionText({ tasks, graph = 'flat' }: MissionShape): string {
  const title = (n: number) => `Task ${n}`
  const tasksOf = Array.from({ length: tasks }, (_, n) => ({
    title: title(n),
    assignTo: 'dev',
    description: `Do ${n}.`,
    dependsOn: dependencies(n, tasks, graph).map(title),
  }))
  return JSON.stringify({ name: 'Bench', tasks: tasksOf })
}

function dependencies(n: number, tasks: number, graph: NonNullable<MissionShape['graph']>): number[] {
  if (graph === 'flat') return []
  if (graph === 'fan-out') return n === 0 ? [] : [0]
  if (graph === 'fan-in') return n === tasks - 1 ? Array.from({ length: tasks - 1 }, (_, other) => other) : []
  const width = Math.ceil(tasks / graph)
  const [layer, place] = [Math.floor(n / width), n % width]
  return layer === 0 ? [] : [...new Set([place, (place + 1) % width])].map((one) => (layer - 1) * width + one)
}

function writeProject(folder: string, shape: MissionShape): void {
  const turn = (n: number) => [shape.files ? { write: { 'work.txt': `work of task ${n}\n` } } : { print: `work of task ${n}` }]
  const workers = Object.fromEntries(Array.from({ length: shape.tasks }, (_, n) => [`Task ${n}`, turn(n)]))
  writeFileSync(join(folder, 'hands.json'), JSON.stringify({ workers: shape.tasks > 1000 && !shape.files ? { '*': turn(0) } : workers }))
  writeFileSync(join(folder, 'eyes.json'), JSON.stringify({ judges: { '*': [{ accept: true, scores: 4 }] } }))
}

/** Counts calls of a method from here on. */
function counting(journal: Journal, method: 'append' | 'claim'): () => number {
  let calls = 0
  const original = journal[method].bind(journal) as (request: never) => Promise<never>
  Object.assign(journal, {
    [method]: (request: never) => {
      calls += 1
      return original(request)
    },
  })
  return () => calls
}

async function runMission(folder: string, shape: MissionShape): Promise<MissionCost> {
  writeProject(folder, shape)
  const project = readProject({ text: configText(shape), file: 'assay.json', env: {}, flags: {} })
  if (!project.ok) throw new Error(JSON.stringify(project.error))
  let plan = undefined as unknown as Extract<ReturnType<typeof readPlan>, { ok: true }>['value']
  const text = missionText(shape)
  const planMs = await timed(() => {
    const read = readPlan({ text, file: 'mission.json' }, project.value)
    if (!read.ok) throw new Error(JSON.stringify(read.error))
    plan = read.value
  })
  const engine = await openEngine({ folder, project: project.value, create: true })
  if (!engine) throw new Error('no engine')
  const { journal } = engine.parts
  const [appends, claims] = [counting(journal, 'append'), counting(journal, 'claim')]
  let mission = ''
  const startMs = await timed(async () => {
    const started = await engine.start(plan.plan)
    if (!started.ok) throw new Error(started.error.message)
    mission = started.value.mission
  })
  const before = process.cpuUsage()
  const runMs = await timed(async () => {
    const end = await engine.run({ missions: [mission], stop: new AbortController().signal })
    if (end.counts.clean !== shape.tasks) throw new Error(`not every task ended clean: ${JSON.stringify(end.counts)}`)
  })
  const { user, system } = process.cpuUsage(before)
  const events = await journal.position()
  await engine.close()
  const peakMb = process.resourceUsage().maxRSS / 1024
  return { planMs, startMs, runMs, cpuMs: (user + system) / 1000, events, appends: appends(), claims: claims(), peakMb }
}

if (process.argv[1] === import.meta.filename) {
  const shape = JSON.parse(process.argv[2] ?? '{}') as MissionShape
  const folder = mkdtempSync(join(shape.dir ?? tmpdir(), 'assay-bench-'))
  try {
    console.log(JSON.stringify(await runMission(folder, shape)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
