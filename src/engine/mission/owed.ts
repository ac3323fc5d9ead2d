import { durationMs } from '../../contract/config/duration.ts'
import type { Journal } from '../../ports/journal.ts'
import { handOver } from '../deliverables/hand-over.ts'
import type { Bench } from '../work/bench.ts'
import type { MissionRow } from '../views/tasks.ts'

/** How often a command looks for more to show; the rest is for the next one. */
const rounds = 1_000

const kinds = ['hand_over']

/**
 * Shows the owner how tasks of these missions ended, where that is still to be done: the card of accepted work, the alert of what failed. Whatever
 * ended a mission, it is shown; what another process is at is left to it.
 */
export async function showOwed(bench: Bench, missions: readonly string[]): Promise<void> {
  const { journal, owner, config } = bench.parts
  if (missions.length === 0) return
  const leaseMs = durationMs(config.limits.workerLease)
  for (let round = 0; round < rounds; round += 1) {
    const leases = await journal.claim({ owner, kinds, scopes: [...missions], limit: 16, leaseMs })
    if (leases.length === 0) return
    for (const lease of leases) await handOver(bench, lease, new AbortController().signal)
  }
}

/** The same of every mission that is finished: nobody works on those any more, so whoever comes by does it. */
export async function showLeft(bench: Bench): Promise<void> {
  const { journal } = bench.parts
  if ((await journal.workCount(undefined, kinds)).due === 0) return
  await showOwed(bench, await finishedMissions(journal))
}

/** Tasks of finished missions whose ending nobody has shown to the owner, nor is about to. Changes nothing. */
export async function owedTasks(journal: Journal): Promise<string[]> {
  const owing: string[] = []
  for (const mission of await finishedMissions(journal)) {
    const { due, later } = await journal.workCount([mission], kinds)
    if (due + later > 0) owing.push(mission)
  }
  if (owing.length === 0) return []
  return [...new Set((await queuedEndings(journal)).filter(({ scope }) => owing.includes(scope)).map(({ task }) => task))]
}

/** Whether the ending of a task is still to be shown to the owner. */
export async function isOwed(journal: Journal, task: string): Promise<boolean> {
  return (await queuedEndings(journal)).some((one) => one.task === task)
}

async function queuedEndings(journal: Journal): Promise<{ scope: string; task: string }[]> {
  const queued = (await journal.queued()).filter(({ kind }) => kinds.includes(kind))
  return queued.map(({ scope, payload }) => ({ scope, task: String((payload as { task?: unknown } | null)?.task) }))
}

/** Tasks whose ending is to be shown, in a sentence. */
export function owedText(tasks: readonly string[]): string {
  const named = `${tasks.slice(0, 5).join(', ')}${tasks.length > 5 ? ', …' : ''}`
  return `${named}: ended, but the owner has not been shown that yet; assay resume does it`
}

async function finishedMissions(journal: Journal): Promise<string[]> {
  const rows = await journal.viewRows('missions')
  return rows.filter(({ row }) => (row as MissionRow).finished !== undefined).map(({ key }) => key)
}
