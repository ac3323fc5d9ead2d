/** What the mission benchmarks run: a small organisation and as many trivial tasks as wanted. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MissionShape {
  tasks: number
  brains: 'scripted' | 'command'
  /** How tasks depend on one another: not at all, on two of the layer before (of so many layers), all on the first, or the last on all. */
  graph?: 'flat' | 'fan-out' | 'fan-in' | number
  /** Whether the worker leaves a file of its own, or only prints. */
  files?: boolean
}

export const concurrency = 8
export const judges = 3
export const workerScript = 'echo done'
export const judgeScript = 'echo "SCORE: 90"'

export function configText({ brains }: MissionShape): string {
  return JSON.stringify({
    version: 1,
    brains:
      brains === 'scripted'
        ? { hands: { kind: 'scripted', file: 'hands.json' }, eyes: { kind: 'scripted', file: 'eyes.json' } }
        : { hands: { kind: 'command', argv: ['sh', '-c', workerScript] }, eyes: { kind: 'command', argv: ['sh', '-c', judgeScript] } },
    agents: {
      dev: { role: 'engineer', brain: 'hands' },
      ada: { role: 'reviewer', brain: 'eyes' },
      bob: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
      cyn: { role: 'reviewer', brain: 'eyes', instructions: 'Try to break it.' },
    },
    review: { panel: { size: judges, mode: 'full' } },
    concurrency,
  })
}

const title = (n: number) => `Task ${n}`

export function missionText({ tasks, graph = 'flat' }: MissionShape): string {
  const all = Array.from({ length: tasks }, (_, n) => ({
    title: title(n),
    assignTo: 'dev',
    description: `Do ${n}.`,
    dependsOn: dependencies(n, tasks, graph).map(title),
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
export function writeScripts(folder: string, { tasks, files }: MissionShape): void {
  const workers = files
    ? Object.fromEntries(Array.from({ length: tasks }, (_, n) => [title(n), [{ write: { 'work.txt': `work of ${n}\n` } }]]))
    : { '*': [{ print: 'done' }] }
  writeFileSync(join(folder, 'hands.json'), JSON.stringify({ workers }))
  writeFileSync(join(folder, 'eyes.json'), JSON.stringify({ judges: { '*': [{ accept: true, scores: 4 }] } }))
}
