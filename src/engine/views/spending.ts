import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Usage } from '../../contract/verdict.ts'
import type { Journal, View } from '../../ports/journal.ts'
import { taskOf } from '../streams.ts'

/** What calls came to together. Money only as far as prices are known; `unpriced` counts the calls without, `estimated` those that did not say what they used. */
export interface Spent {
  calls: number
  unpriced: number
  inputTokens: number
  outputTokens: number
  costUsd: number
  estimated?: number
}

export interface SpendingRow {
  judging: Spent
  working: Spent
}

export const nothingSpent: Spent = { calls: 0, unpriced: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }

export const spendingKey = {
  task: (id: string) => `task:${id}`,
  mission: (id: string) => `mission:${id}`,
  agent: (name: string) => `agent:${name}`,
}

/** Tokens and money by task, mission and agent: every call that reported its usage, the failed ones too. */
export const spendingView: View<SpendingRow> = {
  name: 'spending',
  keys: (event) => {
    const task = taskOf(event.stream)
    const spent = task === undefined ? undefined : usageIn(event)
    if (task === undefined || !spent) return []
    const mission = task.slice(0, Math.max(0, task.lastIndexOf('/')))
    return [spendingKey.task(task), ...(mission === '' ? [] : [spendingKey.mission(mission)]), spendingKey.agent(spent.agent)]
  },
  fold: (row = { judging: nothingSpent, working: nothingSpent }, event) => {
    const spent = usageIn(event)
    if (!spent) return row
    return { ...row, [spent.as]: add(row[spent.as], spent.usage) }
  },
}

/** What judging has cost in all tasks of these missions. */
export async function judgingOf(journal: Pick<Journal, 'viewRow'>, missions: readonly string[]): Promise<Spent> {
  let total = nothingSpent
  for (const mission of missions) {
    const row = (await journal.viewRow('spending', spendingKey.mission(mission))) as SpendingRow | undefined
    if (row) total = addSpent(total, row.judging)
  }
  return total
}

/** Both together. */
export function addSpent(one: Spent, other: Spent): Spent {
  const estimated = (one.estimated ?? 0) + (other.estimated ?? 0)
  return {
    calls: one.calls + other.calls,
    unpriced: one.unpriced + other.unpriced,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd + other.costUsd,
    ...(estimated > 0 && { estimated }),
  }
}

interface Spending {
  as: 'judging' | 'working'
  agent: string
  usage: Usage
}

function usageIn(event: StoredEvent): Spending | undefined {
  switch (event.type) {
    case 'verdict.recorded': {
      const { judge, usage } = (event.data as EventData<'verdict.recorded'>).sitting
      return usage && { as: 'judging', agent: judge, usage }
    }
    case 'task.eval.unparsed':
    case 'judge.unavailable': {
      const { judge, usage } = event.data as EventData<'task.eval.unparsed' | 'judge.unavailable'>
      return usage && { as: 'judging', agent: judge, usage }
    }
    case 'case.submitted':
    case 'attempt.rejected':
    case 'attempt.failed': {
      const { usage } = event.data as EventData<'case.submitted' | 'attempt.rejected' | 'attempt.failed'>
      return usage && { as: 'working', agent: event.meta.actor, usage }
    }
    case 'attempt.interrupted':
    case 'attempt.stopped': {
      const { usage, worker = event.meta.actor } = event.data as EventData<'attempt.interrupted' | 'attempt.stopped'>
      return usage && { as: 'working', agent: worker, usage }
    }
    case 'usage.counted': {
      const { as, agent, usage } = event.data as EventData<'usage.counted'>
      return { as, agent, usage }
    }
    default:
      return undefined
  }
}

function add(spent: Spent, { inputTokens = 0, outputTokens = 0, costUsd, estimated }: Usage): Spent {
  const unpriced = costUsd === undefined ? 1 : 0
  return addSpent(spent, { calls: 1, unpriced, inputTokens, outputTokens, costUsd: costUsd ?? 0, ...(estimated && { estimated: 1 }) })
}
