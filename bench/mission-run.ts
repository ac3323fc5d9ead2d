/** One mission in a process of its own, so that its peak of memory is its own: `mission-run.ts <folder> <shape as JSON>`. Prints its cost as JSON. */
import { readFileSync } from 'node:fs'
import { readPlan, readProject } from '../src/engine/project.ts'
import { openEngine } from '../src/main/open-engine.ts'
import type { Journal } from '../src/ports/journal.ts'
import { timed, timedWithCpu } from './measure.ts'
import { configText, type MissionShape, missionText, writeScripts } from './mission-project.ts'

export interface MissionCost {
  /** Reading and checking the mission file, and creating its tasks. */
  startMs: number
  runMs: number
  /** Processor time of the run, all threads of the process. */
  cpuMs: number
  events: number
  appends: number
  peakMb: number
}

async function runMission(folder: string, shape: MissionShape): Promise<MissionCost> {
  writeScripts(folder, shape)
  const project = readProject({ text: configText(shape), file: 'assay.json', env: {}, flags: {} })
  if (!project.ok) throw new Error(JSON.stringify(project.error))
  const engine = await openEngine({ folder, project: project.value, create: true })
  if (!engine) throw new Error('no engine')
  const { journal } = engine.parts
  const appends = countAppends(journal)
  const text = missionText(shape)
  let mission = ''
  const startMs = await timed(async () => {
    const plan = readPlan({ text, file: 'mission.json' }, project.value)
    if (!plan.ok) throw new Error(JSON.stringify(plan.error))
    const started = await engine.start(plan.value.plan)
    if (!started.ok) throw new Error(started.error.message)
    mission = started.value.mission
  })
  const { ms: runMs, cpuMs } = await timedWithCpu(async () => {
    const end = await engine.run({ missions: [mission], stop: new AbortController().signal })
    if (end.counts.clean !== shape.tasks) throw new Error(`not every task ended clean: ${JSON.stringify(end.counts)}`)
  })
  const events = await journal.position()
  await engine.close()
  return { startMs, runMs, cpuMs, events, appends: appends(), peakMb: peakMegabytes() }
}

/** Since this program began; what the system's call tells includes the process that forked it. */
function peakMegabytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}

function countAppends(journal: Journal): () => number {
  let calls = 0
  const append = journal.append.bind(journal)
  journal.append = (request) => {
    calls += 1
    return append(request)
  }
  return () => calls
}

const [folder = '', shape = ''] = process.argv.slice(2)
console.log(JSON.stringify(await runMission(folder, JSON.parse(shape) as MissionShape)))
