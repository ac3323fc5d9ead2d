/**
 * What it costs to have models work through Assay, and what a rework round sends again. Run: `npx node bench/workers.ts [--size small|full] [--dir folder]`.
 * The model answers from a process of its own; floors and Assay take turns, each in a process of its own, bundled as the published package is.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inTurns, printTable, ratio, rounded } from './measure.ts'
import type { MissionCost } from './programs/mission.ts'
import type { Served, Setting } from './programs/model-server.ts'
import { openPrograms } from './programs/open.ts'
import { concurrency, type MissionShape } from './programs/project.ts'
import type { Turns } from './programs/turns.ts'

const sizes = { small: { rounds: 1, calls: 160 }, full: { rounds: 3, calls: 800 } }
const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const { rounds, calls } = sizes[flags.size === 'small' ? 'small' : 'full']
const programs = await openPrograms(['mission', 'turns', 'model-server'], flags.dir)
const server = programs.start('model-server')

/** Sets the server up anew; tells what it served so far. */
async function reset(setting: Setting): Promise<Served> {
  server.send(setting)
  const [served] = await once(server, 'message')
  return served as Served
}

async function worked(baseURL: string, setting: Setting & { turns: number }): Promise<void> {
  const { latencyMs, turns } = setting
  const tasks = calls / turns
  const shape: MissionShape = { tasks, worker: { baseURL }, judge: 'nobody' }
  await reset(setting)
  await programs.ask('mission', { ...shape, tasks: 1 })
  const { first: bodies } = await reset(setting)
  const file = join(programs.root, 'bodies.json')
  writeFileSync(file, JSON.stringify(bodies))
  if (bodies.length !== turns) throw new Error(`${bodies.length} turns instead of ${turns}`)
  /** The same number of calls for everyone, or the comparison means nothing. */
  const counted = (name: string, run: () => Promise<number>) => async () => {
    await reset(setting)
    const ms = await run()
    const { requests } = await reset(setting)
    if (requests !== calls) throw new Error(`${name}: ${requests} calls instead of ${calls}`)
    return ms
  }
  const cpu: Record<string, number> = {}
  const mission = async () => {
    const cost = await programs.ask<MissionCost>('mission', shape)
    cpu.assay = cost.cpuMs
    return cost.runMs
  }
  const floor = (via: Turns['via']) =>
    counted(via, async () => {
      const cost = await programs.ask<{ ms: number; cpuMs: number }>('turns', { tasks, via, baseURL, bodies: file } satisfies Turns)
      cpu[via] = cost.cpuMs
      return cost.ms
    })
  const found = await inTurns(rounds, { http: floor('http'), sdk: floor('sdk'), tools: floor('tools'), assay: counted('assay', mission) })
  const row = (name: string, who: keyof typeof found) => {
    const [ms, own] = [found[who], cpu[who] ?? 0]
    return [
      name,
      ms,
      ms / calls,
      ratio(ms, found.sdk),
      ratio(ms, found.tools),
      ratio(ms, found.http),
      own / calls,
      ratio(own, cpu.sdk ?? 0),
    ]
  }
  printTable(
    `${tasks} tasks × ${turns} turns of a model worker that take ${latencyMs} ms, ${concurrency} at once, durable (goal without latency: ≤ 1.5 ×)`,
    ['', 'ms', 'ms a turn', 'against generateText', 'with tools done', 'against raw HTTP', 'CPU ms a turn', 'against generateText'],
    [
      row(`floor: ${rounded(calls)} raw HTTP calls`, 'http'),
      row('floor: the same with generateText, no tool done', 'sdk'),
      row('floor: the same, tools done', 'tools'),
      row('Assay: tools done, conversation and calls stored', 'assay'),
    ],
  )
}

/** How much of a request the provider has seen before: the beginning that it shares with the request before. */
function sharedWith(before: string, body: string): number {
  let at = 0
  while (at < body.length && body[at] === before[at]) at += 1
  return at
}

/** Requests of one task that is rejected once: what its second round sends, and how much of that the provider's cache can know. */
async function reworked(baseURL: string): Promise<void> {
  await reset({ latencyMs: 0, rejections: 1 })
  await programs.ask('mission', { tasks: 1, worker: { baseURL }, judge: { baseURL }, judges: 1 } satisfies MissionShape)
  const { first } = await reset({ latencyMs: 0 })
  const work = first.filter((body) => body.includes('"submit_case"'))
  const judged = first.findIndex((body) => !body.includes('"submit_case"'))
  if (judged < 1 || work.length <= judged) throw new Error('there was no second round')
  const round = (name: string, from: number, to: number) => {
    // Every provider compares messages in their order; the tools and settings around them are the same in all requests.
    const texts = work.map((body) => JSON.stringify((JSON.parse(body) as { messages: unknown }).messages).slice(0, -1))
    const bodies = texts.slice(from, to)
    const sent = bodies.reduce((sum, body) => sum + body.length, 0)
    const known = bodies.reduce((sum, body, index) => sum + sharedWith(texts[from + index - 1] ?? '', body), 0)
    return [name, bodies.length, sent / 4, known / 4, (sent - known) / 4, `${Math.round((100 * known) / sent)} %`]
  }
  printTable(
    'Tokens of messages (4 characters each) that a model worker sends in its first round and in a rework round',
    ['', 'requests', 'sent', 'seen before by the provider', 'new', 'cacheable'],
    [round('first round', 0, judged), round('rework round', judged, work.length)],
  )
}

try {
  const [{ baseURL }] = (await once(server, 'message')) as [{ baseURL: string }]
  for (const turns of [4, 20]) for (const latencyMs of [0, 50]) await worked(baseURL, { latencyMs, turns })
  await reworked(baseURL)
} finally {
  programs.close()
}
