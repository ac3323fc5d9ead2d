/** What the benchmarks of whole missions run: a small organisation and as many trivial tasks as wanted. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MissionShape {
  tasks: number
  /** Scripted, leaving only what it prints or a file of its own; a program; or a model. */
  worker: 'prints' | 'writes' | string[] | { baseURL: string }
  /** Nobody, which means that evaluation is off; scripted; a program; or a model. */
  judge: 'nobody' | 'scripted' | string[] | { baseURL: string }
  /** Seats of a panel, all of them asked. */
  judges?: number
  /** Programs that check every task's work. */
  checks?: string[][]
  /** How tasks depend on one another: not at all, on two of the layer before (of so many layers), all on the first, or the last on all. */
  graph?: 'flat' | 'fan-out' | 'fan-in' | number
}

export const concurrency = 8
export const panelSize = 3
export const printingWorker = ['sh', '-c', 'echo done']
export const printingJudge = ['sh', '-c', 'echo "SCORE: 90"']

export function configText({ worker, judge, judges = panelSize }: MissionShape): string {
  return JSON.stringify({
    version: 1,
    brains: { hands: brainOf(worker, 'hands'), eyes: brainOf(judge, 'eyes') },
    agents: {
      dev: { role: 'engineer', brain: 'hands' },
      ada: { role: 'reviewer', brain: 'eyes' },
      bob: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
      cyn: { role: 'reviewer', brain: 'eyes', instructions: 'Try to break it.' },
    },
    review: { evaluate: judge !== 'nobody', panel: { size: judges, quorum: Math.min(2, judges), mode: 'full' } },
    concurrency,
  })
}

function brainOf(kind: MissionShape['worker' | 'judge'], name: string): object {
  if (Array.isArray(kind)) return { kind: 'command', argv: kind }
  if (typeof kind === 'object') return { kind: 'model', provider: 'openai-compatible', model: name, baseURL: kind.baseURL }
  return { kind: 'scripted', file: `${name}.json` }
}

const title = (n: number) => `Task ${n}`

export function missionText({ tasks, checks = [], graph = 'flat' }: MissionShape): string {
  const all = Array.from({ length: tasks }, (_, n) => ({
    title: title(n),
    assignTo: 'dev',
    description: `Do ${n}.`,
    dependsOn: dependencies(n, tasks, graph).map(title),
    checks: checks.map((argv) => ({ kind: 'command', argv })),
  }))
  return JSON.stringify({ name: 'Bench', tasks: all })
}

function dependencies(n: number, tasks: number, graph: NonNullable<MissionShape['graph']>): number[] {
  if (graph === 'flat') return []
  if (graph === 'fan-out') return n === 0 ? [] : [0]
  if (graph === 'fan-in') return n === tasks - 1 ? Array.from({ length: tasks - 1 }, (_, other) => other) : []
  const width = Math.ceil(tasks / graph)
  const [layer, place] = [Math.floor(n / width), n % width]
  return layer === 0 ? [] : [...new Set([place, (place + 1) % width])].map((one) => (layer - 1) * width + one)
}

/** The scripts of worker and judges, where they are scripted. Files differ from task to task: each snapshot is new to the store. */
export function writeScripts(folder: string, { tasks, worker }: MissionShape): void {
  const workers =
    worker === 'writes'
      ? Object.fromEntries(Array.from({ length: tasks }, (_, n) => [title(n), [{ write: { 'work.txt': `work of ${n}\n` } }]]))
      : { '*': [{ print: 'done' }] }
  writeFileSync(join(folder, 'hands.json'), JSON.stringify({ workers }))
  writeFileSync(join(folder, 'eyes.json'), JSON.stringify({ judges: { '*': [{ accept: true, scores: 4 }] } }))
}
