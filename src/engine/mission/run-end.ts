import { gateRequests, type RequestRow, taskRequests } from '../requests.ts'
import { type Withheld, withheldOf } from '../deliverables/withheld.ts'
import type { EngineParts } from '../parts.ts'
import { type Awaited, awaitedOutside } from '../outside/who.ts'
import { type Untold, untoldOf } from '../notify/views.ts'
import type { TaskStore } from '../task/task-store.ts'
import { type HeldInput, heldInputs } from '../gates/held.ts'
import type { GateRow } from '../views/gates.ts'
import { judgingOf, type Spent } from '../views/spending.ts'
import type { MissionRow, TaskRow } from '../views/tasks.ts'
import { gateRows } from './finish.ts'
import { outcomeOf, type RunOutcome } from './outcome.ts'

export interface RunEnd extends RunOutcome {
  stopped: boolean
  rows: TaskRow[]
  gates: GateRow[]
  /** Missions whose quality threshold was missed and not waived. */
  missedThresholds: string[]
  /** Missions whose missed quality threshold the owner let pass. */
  waivedThresholds: string[]
  /** What judging these missions has cost so far, over all runs. */
  judging: Spent
  /** Workers and judges who have to come by themselves for a task to go on. */
  awaited: Awaited[]
  /** What waits for a person. */
  requests: RequestRow[]
  /** Inputs that quality gates wait for and that nothing moves by itself. */
  heldInputs: HeldInput[]
  /** Accepted work that did not reach the owner, and why. */
  withheld: Withheld[]
  /** Notifications of these missions that nobody got, where there are any. */
  untold?: Untold
}

/** Where missions stand after a run, as their rows and the journal have it. */
export async function runEnd(
  parts: EngineParts,
  tasks: TaskStore,
  missions: readonly string[],
  { rows, stopped }: Pick<RunEnd, 'rows' | 'stopped'>,
): Promise<RunEnd> {
  const { journal, rules } = parts
  const gates = await gateRows(parts, missions)
  const known = await Promise.all(missions.map((mission) => journal.viewRow('missions', mission) as Promise<MissionRow | undefined>))
  const ofThreshold = (state: 'failed' | 'waived') => known.flatMap((row) => (row?.threshold === state ? [row.id] : []))
  const missed = ofThreshold('failed')
  const withheld = await withheldOf(parts, rows)
  const untold = await untoldOf(journal, missions)
  return {
    stopped,
    rows,
    judging: await judgingOf(journal, [...missions]),
    awaited: awaitedOutside(rules.policy, rows),
    gates,
    requests: [...(await taskRequests(tasks, rows)), ...gateRequests(gates)],
    heldInputs: heldInputs(gates, rows),
    missedThresholds: missed,
    waivedThresholds: ofThreshold('waived'),
    ...outcomeOf(rows, rules.policy.review.evaluate, { gates, missed, withheld }),
    withheld,
    ...(untold && { untold }),
  }
}
