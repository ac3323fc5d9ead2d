import type { TaskSpec } from '../../../contract/task.ts'
import { type SpendingRow, spendingKey } from '../../views/spending.ts'
import type { Bench } from '../bench.ts'

/** Why no further judge may be asked for this task: what judging may cost is spent. Undefined while it is not. */
export async function spentBudget({ parts }: Bench, { id, mission }: TaskSpec): Promise<string | undefined> {
  const { maxCost } = parts.rules.policy.review
  if (maxCost === undefined) return undefined
  const keys = [
    ['the task', spendingKey.task(id)],
    ['the mission', spendingKey.mission(mission ?? '')],
  ] as const
  for (const [what, key] of keys) {
    const row = (await parts.journal.viewRow('spending', key)) as SpendingRow | undefined
    const cost = row?.judging.costUsd ?? 0
    if (cost >= maxCost) return `judging ${what} has cost ${shown(cost)}; \`review.maxCost\` is ${shown(maxCost)}`
  }
  return undefined
}

/** Runs at once where nothing bounds the cost; else after every judge of the same mission that was asked before. */
export async function oneAtATime({ parts, paying }: Bench, task: string, ask: () => Promise<void>): Promise<void> {
  if (parts.rules.policy.review.maxCost === undefined) return ask()
  const mission = task.split('/')[0] ?? ''
  const turn = (paying.get(mission) ?? Promise.resolve()).then(ask, ask)
  paying.set(mission, turn)
  await turn
}

const shown = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`
