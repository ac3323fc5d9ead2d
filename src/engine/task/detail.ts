import { rulesFor } from '../../core/task/terms.ts'
import type { Case } from '../../contract/case.ts'
import type { CheckReport } from '../../contract/check.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { LedgerEntry, Sitting, Veto } from '../../contract/review.ts'
import type { Criterion } from '../../contract/task.ts'
import { describeBar, describeScore } from '../../core/score/score.ts'
import type { Rules } from '../../core/task/draft.ts'
import { answersNow } from '../../core/task/requests.ts'
import { decidedBar, type OpenRequest, type TaskState } from '../../core/task/state.ts'

/** Characters of a check's output that are shown. */
const maxCheckOutput = 20_000

/** One task in full, for a person or a program. */
export interface TaskDetail {
  id: string
  title: string
  status: string
  /** In force for what is decided next. */
  bar: string
  /** What the score that it has was decided against. */
  decidedBar: string
  charged: number
  allowed: number
  criteria: Criterion[]
  case?: Case
  ledger: LedgerEntry[]
  /** What the checks of the last submission found, with the end of what they printed. */
  checks: Pick<CheckReport, 'id' | 'outcome' | 'summary' | 'output'>[]
  judges: { judge: string; said: string }[]
  /** The last attempt ran without a sandbox: its worker could do what the user can. */
  unsandboxed?: true
  /** The last review had fewer independent judges than the configured quorum: this one was in force instead. */
  degraded?: { quorum: number }
  vetoes: Veto[]
  requests: OpenRequest[]
  workspace?: string
}

export function detailOf(state: TaskState, rules: Rules, workspace: string | undefined, events: readonly AssayEvent[]): TaskDetail {
  const { spec, ledger, vetoes, requests, charged } = state
  return {
    id: spec.id,
    title: spec.title,
    status: state.status,
    bar: describeBar(state.done ? decidedBar(state) : spec.bar),
    decidedBar: describeBar(decidedBar(state)),
    charged,
    allowed: rulesFor(state.spec, rules).policy.review.maxAttempts + state.granted,
    criteria: spec.criteria,
    ...(state.current?.case && { case: state.current.case }),
    ledger,
    checks: checksOf(events),
    judges: judgesOf(state, events),
    ...unsandboxedIn(events),
    ...degradedIn(state, events),
    vetoes,
    requests: requests.map((open) => ({ ...open, answers: answersNow(state, open) })),
    ...(workspace !== undefined && { workspace }),
  }
}

function checksOf(events: readonly AssayEvent[]): TaskDetail['checks'] {
  const ran = events.findLast(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  const reports = ran?.type === 'checks.passed' || ran?.type === 'checks.failed' ? ran.data.reports : []
  return reports.map(({ id, outcome, summary, output }) => ({ id, outcome, summary, output: endOf(output) }))
}

function endOf(output: string): string {
  const left = output.length - maxCheckOutput
  return left <= 0 ? output : `[${left} characters before this are in the journal]\n${output.slice(left)}`
}

function unsandboxedIn(events: readonly AssayEvent[]): Pick<TaskDetail, 'unsandboxed'> {
  const started = events.findLast((event) => event.type === 'attempt.started')
  return started?.type === 'attempt.started' && !started.data.sandboxed ? { unsandboxed: true } : {}
}

function degradedIn({ reviews }: TaskState, events: readonly AssayEvent[]): Pick<TaskDetail, 'degraded'> {
  const opened = events.findLast((event) => event.type === 'review.opened' && event.data.review === reviews)
  return opened?.type === 'review.opened' && opened.data.degraded ? { degraded: { quorum: opened.data.quorum } } : {}
}

/** What the judges of the last review had to say. */
function judgesOf(state: TaskState, events: readonly AssayEvent[]): TaskDetail['judges'] {
  const said: TaskDetail['judges'] = []
  for (const { type, data } of events) {
    if (type === 'verdict.recorded' && data.review === state.reviews) said.push({ judge: data.sitting.judge, said: words(data.sitting) })
    if (type === 'seat.voided' && data.review === state.reviews) said.push({ judge: data.judge, said: 'gave no verdict that can be read' })
    if (type === 'judge.unavailable' && data.review === state.reviews)
      said.push({ judge: data.judge, said: `cannot be reached: ${data.detail}` })
  }
  return said
}

function words({ outcome, accepts, score, verdict, text }: Sitting): string {
  const concern = verdict?.concern ?? text?.feedback ?? ''
  if (outcome === 'abstained') return `cannot tell: ${concern}`
  return `${accepts ? 'accepts' : 'rejects'}, ${score ? describeScore(score) : 'no score'}: ${concern}`
}
