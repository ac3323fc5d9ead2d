/** One mission in a process of its own, so that its peak of memory is its own: `mission <folder> <shape as JSON>`. Prints its cost as JSON. */
import { readFileSync } from 'node:fs'
import { type Project, readPlan, readProject } from '../../src/engine/project.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'
import { openEngine } from '../../src/main/open-engine.ts'
import { timed, timedWithCpu } from '../measure.ts'
import { configText, type MissionShape, missionText, writeScripts } from './project.ts'
import { WaitCounter, type Waits } from './waits.ts'

export interface MissionCost {
  /** Reading and checking the mission file, and creating its tasks. */
  startMs: number
  runMs: number
  /** Processor time of the run, all threads of the process. */
  cpuMs: number
  events: number
  appends: number
  peakMb: number
  /** Where tasks depend on one another. */
  waits?: Waits
}

async function runMission(folder: string, shape: MissionShape): Promise<MissionCost> {
  writeScripts(folder, shape)
  const project = readProject({ text: configText(shape), file: 'assay.json', env: {}, flags: {} })
  if (!project.ok) throw new Error(JSON.stringify(project.error))
  const engine = await openEngine({ folder, project: project.value, create: true })
  if (!engine) throw new Error('no engine')
  const { journal } = engine.parts
  const appends = countCalls(journal, 'append')
  const checks = countCalls(engine.parts.checks, 'run')
  let mission = ''
  const startMs = await timed(async () => {
    mission = await startMission(engine, project.value, missionText(shape))
  })
  const waiting = new WaitCounter()
  const { ms: runMs, cpuMs } = await timedWithCpu(async () => {
    const end = await engine.run({ missions: [mission], stop: new AbortController().signal, onEvent: (...seen) => waiting.see(...seen) })
    const wanted = shape.judge === 'nobody' ? 'unreviewed' : 'clean'
    if (end.counts[wanted] !== shape.tasks) throw new Error(`not every task ended ${wanted}: ${JSON.stringify(end.counts)}`)
  })
  const due = shape.tasks * (shape.checks?.length ?? 0)
  if (checks() !== due) throw new Error(`${checks()} checks were run, ${due} were due`)
  const events = await journal.position()
  await engine.close()
  const { waits } = waiting
  return { startMs, runMs, cpuMs, events, appends: appends(), peakMb: peakMegabytes(), ...(waits && { waits }) }
}

/** On its own, so that the text and the plan are gone when the run begins. */
async function startMission(engine: Engine, project: Project, text: string): Promise<string> {
  const plan = readPlan({ text, file: 'mission.json' }, project)
  if (!plan.ok) throw new Error(JSON.stringify(plan.error))
  const started = await engine.start(plan.value.plan)
  if (!started.ok) throw new Error(started.error.message)
  return started.value.mission
}

/** Since this program began; what the system's call tells includes the process that forked it. */
function peakMegabytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}

function countCalls<Name extends string>(object: Record<Name, (...args: never[]) => unknown>, name: Name): () => number {
  let calls = 0
  const original = object[name].bind(object)
  object[name] = (...args) => {
    calls += 1
    return original(...args)
  }
  return () => calls
}

// As the command line does.
keepHeapSmall()
const [folder = '', shape = ''] = process.argv.slice(2)
console.log(JSON.stringify(await runMission(folder, JSON.parse(shape) as MissionShape)))
