import { defaultOutputTokens, mostCost } from '../../../contract/agent.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import { rulesFor } from '../../../core/task/terms.ts'
import { type SpendingRow, spendingKey } from '../../views/spending.ts'
import type { Bench } from '../bench.ts'

/** What a call may cost where judging has a bound. */
export interface Allowance {
  /** US dollars that are left for the task and for its mission. */
  left: number
  /** Most that the call costs, as far as that can be told before it. */
  expected: number
}

/** Sums of prices are not exact: what differs by less is the same amount. */
const rounding = 1e-9

/**
 * Whether this judge may be asked this question: only if the most that it can cost is left of `review.maxCost`. `held` says why it may not; undefined where
 * nothing bounds the cost.
 */
export async function allowanceFor(
  bench: Bench,
  spec: TaskSpec,
  judge: string,
  prompt: string,
): Promise<Allowance | { held: string } | undefined> {
  const { journal, rules } = bench.parts
  const { maxCost } = rules.policy.review
  if (maxCost === undefined) return undefined
  const expected = await expectedCost(bench, spec, judge, prompt)
  const keys = [
    ['the task', spendingKey.task(spec.id)],
    ['the mission', spendingKey.mission(spec.mission ?? '')],
  ] as const
  let left = maxCost
  for (const [what, key] of keys) {
    const row = (await journal.viewRow('spending', key)) as SpendingRow | undefined
    const cost = row?.judging.costUsd ?? 0
    if (cost >= maxCost) return { held: `judging ${what} has cost ${shown(cost)}; \`review.maxCost\` is ${shown(maxCost)}` }
    if (cost + expected > maxCost + rounding)
      return {
        held: `judging ${what} has cost ${shown(cost)}, and asking ${judge} may cost ${shown(expected)} more; \`review.maxCost\` is ${shown(maxCost)}`,
      }
    left = Math.min(left, maxCost - cost)
  }
  return { left, expected }
}

/** By the prices of its brain, or by what its calls came to so far; nothing where neither is known. */
async function expectedCost({ parts }: Bench, spec: TaskSpec, judge: string, prompt: string): Promise<number> {
  const { agents, brains } = rulesFor(spec, parts.rules).policy
  const brain = brains[agents[judge]?.brain ?? '']
  if (brain?.kind === 'model' && brain.prices)
    return mostCost(brain.prices, Buffer.byteLength(prompt), brain.maxOutputTokens ?? defaultOutputTokens)
  const row = (await parts.journal.viewRow('spending', spendingKey.agent(judge))) as SpendingRow | undefined
  if (!row) return 0
  const { calls, unpriced, costUsd } = row.judging
  return calls > unpriced ? costUsd / (calls - unpriced) : 0
}

/**
 * Runs at once where nothing bounds the cost; else after every judge of the same mission that was asked before, so that what a call may cost is kept for it
 * until what it did cost is counted.
 */
export async function oneAtATime({ parts, paying }: Bench, task: string, ask: () => Promise<void>): Promise<void> {
  if (parts.rules.policy.review.maxCost === undefined) return ask()
  const mission = task.split('/')[0] ?? ''
  const turn = (paying.get(mission) ?? Promise.resolve()).then(ask, ask)
  paying.set(mission, turn)
  await turn
}

const shown = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`
