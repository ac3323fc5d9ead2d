/**
 * What it costs to have commands run by Assay. Run: `npx node bench/hands.ts [--size small|full] [--dir folder]`.
 * Floors and Assay take turns, each in a process of its own, bundled as the published package is.
 */
import { parseArgs } from 'node:util'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { inTurns, printTable, ratio } from './measure.ts'
import type { Floor } from './programs/floor.ts'
import type { MissionCost } from './programs/mission.ts'
import { openPrograms } from './programs/open.ts'
import { concurrency, type MissionShape } from './programs/project.ts'
import type { Runs } from './programs/runner.ts'

const sizes = { small: { rounds: 1, tasks: 40, runs: 100 }, full: { rounds: 3, tasks: 200, runs: 200 } }
const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const size = sizes[flags.size === 'small' ? 'small' : 'full']
const sandboxed = (await sandboxState()).usable
const programs = await openPrograms(['runner', 'floor', 'mission'], flags.dir)

interface Commands {
  name: string
  /** Starts the program and does nothing: what starting and ending takes, and no more. Once for each program. */
  idle?: string[]
  worker: string[]
  /** They read what the worker wrote, which differs from task to task: no report of one fits another. */
  checks: [string[], string[]]
}

const node = (script: string) => [process.execPath, '-e', script]
const sh = (script: string) => ['sh', '-c', script]
/** A module that differs from task to task, and its test. */
const moduleAndTest = `const w = require('fs').writeFileSync, name = JSON.stringify(process.env.ASSAY_TASK)
w('work.mjs', 'export const task = ' + name)
w('work.test.mjs', "import t from 'node:test'; import { task } from './work.mjs'; t('its own', () => { if (task !== " + name + ") throw task })")`
const commands: Commands[] = [
  {
    name: 'node with a tiny script',
    idle: node(''),
    worker: node("require('fs').writeFileSync('work.json', JSON.stringify({ task: process.env.ASSAY_TASK }))"),
    checks: [
      node("JSON.parse(require('fs').readFileSync('work.json', 'utf8')).task.length > 0 || process.exit(1)"),
      node("require('fs').statSync('work.json').size > 2 || process.exit(1)"),
    ],
  },
  {
    name: 'sh with a trivial line',
    idle: sh('exit 0'),
    worker: sh('echo "$ASSAY_TASK" > work.txt'),
    checks: [sh('test -s work.txt'), sh('read -r line < work.txt')],
  },
  {
    name: 'a module, its tests and a look at its syntax',
    worker: node(moduleAndTest),
    checks: [
      [process.execPath, '--test', 'work.test.mjs'],
      [process.execPath, '--check', 'work.mjs'],
    ],
  },
]

async function runner({ name, idle }: Commands): Promise<void> {
  if (idle === undefined) return
  for (const atOnce of [1, concurrency]) {
    const runs = (by: Runs['by'], sandbox: boolean) => () =>
      programs.ask<number>('runner', { by, sandbox, command: idle, count: size.runs, atOnce } satisfies Runs)
    const bare = await inTurns(size.rounds, {
      spawn: runs('spawn', false),
      runner: runs('runner', false),
      ...(sandboxed && { boxedSpawn: runs('spawn', true), boxedRunner: runs('runner', true) }),
    })
    const row = (label: string, ms: number, floor: number) => [label, ms / size.runs, ratio(ms, bare.spawn), ratio(ms, floor)]
    printTable(
      `${size.runs} × ${name}, ${atOnce} at once`,
      ['', 'ms each', 'against spawn', 'against its own floor'],
      [
        row('floor: spawn', bare.spawn, bare.spawn),
        row('runner', bare.runner, bare.spawn),
        ...(bare.boxedSpawn !== undefined && bare.boxedRunner !== undefined
          ? [
              row('floor: spawn of the sandbox', bare.boxedSpawn, bare.boxedSpawn),
              row('runner with sandbox', bare.boxedRunner, bare.boxedSpawn),
            ]
          : []),
      ],
    )
  }
}

async function missions({ name, worker, checks }: Commands): Promise<void> {
  const { tasks } = size
  const floor = (sandbox: boolean) => () =>
    programs.ask<number>('floor', { kind: 'processes', tasks, steps: [[worker], checks], sandbox } satisfies Floor)
  const cpu: Record<string, number> = {}
  const mission = (judge: 'nobody' | 'scripted') => async () => {
    const { runMs, cpuMs } = await programs.ask<MissionCost>('mission', { tasks, worker, checks, judge, judges: 1 } satisfies MissionShape)
    cpu[judge] = cpuMs
    return runMs
  }
  const found = await inTurns(size.rounds, {
    bare: floor(false),
    ...(sandboxed && { boxed: floor(true) }),
    unjudged: mission('nobody'),
    judged: mission('scripted'),
  })
  const row = (label: string, ms: number, own?: number) => [
    label,
    ms,
    ms / tasks,
    own === undefined ? '' : own / tasks,
    ratio(ms, found.bare),
    found.boxed === undefined ? '' : ratio(ms, found.boxed),
  ]
  printTable(
    `${tasks} tasks with two checks each, ${concurrency} at once: ${name} (goal: ≤ 1.3 × bare)`,
    ['', 'ms', 'ms a task', 'CPU of Assay itself', 'against bare', 'against sandboxed'],
    [
      row(`floor: the same ${tasks * 3} processes, bare`, found.bare),
      ...(found.boxed === undefined ? [] : [row('floor: the same, each in a sandbox', found.boxed)]),
      row(`Assay${sandboxed ? ', each in a sandbox' : ', without a sandbox'}, evaluation off`, found.unjudged, cpu.nobody),
      row('the same with a scripted judge', found.judged, cpu.scripted),
    ],
  )
}

try {
  for (const set of commands) await runner(set)
  for (const set of commands) await missions(set)
} finally {
  programs.close()
}
