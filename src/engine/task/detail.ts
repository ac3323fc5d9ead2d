import type { Case } from '../../contract/case.ts'
import type { LedgerEntry, Veto } from '../../contract/review.ts'
import type { Criterion } from '../../contract/task.ts'
import { describeBar } from '../../core/score/score.ts'
import type { Rules } from '../../core/task/draft.ts'
import type { OpenRequest, TaskState } from '../../core/task/state.ts'

/** One task in full, for a person or a program. */
export interface TaskDetail {
  id: string
  title: string
  status: string
  bar: string
  charged: number
  allowed: number
  criteria: Criterion[]
  case?: Case
  ledger: LedgerEntry[]
  judges: { judge: string; said: string }[]
  vetoes: Veto[]
  requests: OpenRequest[]
  workspace?: string
}

export function detailOf(state: TaskState, rules: Rules, workspace: string | undefined): TaskDetail {
  const { spec, ledger, vetoes, requests, charged } = state
  return {
    id: spec.id,
    title: spec.title,
    status: state.status,
    bar: describeBar(spec.bar),
    charged,
    allowed: rules.policy.review.maxAttempts + state.granted,
    criteria: spec.criteria,
    ...(state.current?.case && { case: state.current.case }),
    ledger,
    judges: judgesOf(state),
    vetoes,
    requests,
    ...(workspace !== undefined && { workspace }),
  }
}

/** What the judges of the open review, or of the last decision, had to say. */
function judgesOf(state: TaskState): TaskDetail['judges'] {
  if (state.panel) {
    return state.panel.seats.map((seat) => ({
      judge: seat.judge,
      said: seat.sitting ? (seat.sitting.accepts ? 'accepts' : 'does not accept') : seat.status,
    }))
  }
  const decision = state.decided.at(-1)?.decision
  if (!decision) return []
  const reasons = new Map<string, string[]>()
  for (const dimension of decision.dimensions) {
    for (const { judge, text } of dimension.reasoning) reasons.set(judge, [...(reasons.get(judge) ?? []), `${dimension.name}: ${text}`])
  }
  const said = [...reasons].map(([judge, texts]) => ({ judge, said: texts.join(' · ') }))
  const dissent = decision.dissent.map((one) => ({
    judge: one.judge,
    said: `DISSENT, ${one.accepts ? 'accepts' : 'rejects'}: ${one.concern}`,
  }))
  const missing = decision.missing
    .filter((one) => one.why !== 'not_needed')
    .map((one) => ({ judge: one.judge, said: `no grade: ${one.why}` }))
  return [...said, ...dissent, ...missing]
}
