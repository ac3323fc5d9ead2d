/**
 * What it costs to have models judge through Assay. Run: `npx node bench/models.ts [--size small|full] [--dir folder]`.
 * The model answers from a process of its own; floors and Assay take turns, each in a process of its own, bundled as the published package is.
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { inTurns, printTable, ratio, rounded } from './measure.ts'
import type { Judging } from './programs/judging.ts'
import type { MissionCost } from './programs/mission.ts'
import type { Served } from './programs/model-server.ts'
import { openPrograms } from './programs/open.ts'
import { concurrency, type MissionShape, panelSize, printingWorker } from './programs/project.ts'

const sizes = { small: { rounds: 1, tasks: 40 }, full: { rounds: 3, tasks: 200 } }
const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const { rounds, tasks } = sizes[flags.size === 'small' ? 'small' : 'full']
const sandboxed = (await sandboxState()).usable
const programs = await openPrograms(['mission', 'judging', 'model-server'], flags.dir)
const server = programs.start('model-server')

/** Sets the server up anew; tells what it served so far. */
async function reset(latencyMs: number): Promise<Served> {
  server.send({ latencyMs })
  const [served] = await once(server, 'message')
  return served as Served
}

async function judged(baseURL: string, latencyMs: number): Promise<void> {
  await reset(latencyMs)
  const shape: MissionShape = { tasks, worker: printingWorker, judge: { baseURL } }
  const calls = tasks * panelSize
  const sizeOf: Record<string, number> = {}
  /** The same number of calls for everyone, or the comparison means nothing. */
  const counted = (name: string, run: () => Promise<number>) => async () => {
    await reset(latencyMs)
    const ms = await run()
    const { requests, bytes } = await reset(latencyMs)
    if (requests !== calls) throw new Error(`${name}: ${requests} calls instead of ${calls}`)
    sizeOf[name] = bytes / requests
    return ms
  }
  const cpu: Record<string, number> = {}
  const mission = async () => {
    const cost = await programs.ask<MissionCost>('mission', shape)
    cpu.assay = cost.cpuMs
    return cost.runMs
  }
  await programs.ask('mission', { ...shape, tasks: 1 })
  const [request = ''] = (await reset(latencyMs)).first
  const floor = (via: Judging['via'], sandbox: boolean) =>
    counted(via, async () => {
      const cost = await programs.ask<{ ms: number; cpuMs: number }>('judging', { tasks, sandbox, via, baseURL, request } satisfies Judging)
      cpu[sandbox ? 'boxed' : via] = cost.cpuMs
      return cost.ms
    })
  const found = await inTurns(rounds, {
    http: floor('http', false),
    sdk: floor('sdk', false),
    ...(sandboxed && { boxed: floor('sdk', true) }),
    assay: counted('assay', mission),
  })
  const row = (name: string, who: keyof typeof found, bytes = 0) => {
    const [ms, own] = [found[who] ?? 0, cpu[who] ?? 0]
    const boxed = found.boxed === undefined ? '' : ratio(ms, found.boxed)
    return [name, ms, ms / tasks, bytes, ratio(ms, found.sdk), boxed, ratio(ms, found.http), own / tasks, ratio(own, cpu.sdk ?? 0)]
  }
  printTable(
    `${tasks} tasks × ${panelSize} model judges that take ${latencyMs} ms, ${concurrency} at once, durable (goal without latency: ≤ 1.5 ×)`,
    [
      '',
      'ms',
      'ms a task',
      'bytes a call',
      'against generateText',
      'with sandbox',
      'against raw HTTP',
      'own CPU ms a task',
      'against generateText',
    ],
    [
      row(`floor: ${tasks} workers, ${rounded(calls)} raw HTTP calls`, 'http', sizeOf.http),
      row('floor: the same with generateText', 'sdk', sizeOf.sdk),
      ...(found.boxed === undefined ? [] : [row('floor: the same, workers in a sandbox', 'boxed', sizeOf.sdk)]),
      row(`Assay${sandboxed ? ', workers in a sandbox' : ', without a sandbox'}`, 'assay', sizeOf.assay),
    ],
  )
}

try {
  const [{ baseURL }] = (await once(server, 'message')) as [{ baseURL: string }]
  for (const latencyMs of [0, 50]) await judged(baseURL, latencyMs)
} finally {
  programs.close()
}
