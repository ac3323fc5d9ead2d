import type { CheckReport } from '../../contract/check.ts'
import type { AttemptFailure } from '../../contract/events/attempt.ts'
import type { Decision, Feedback, LedgerEntry, PriorPoint } from '../../contract/review.ts'
import type { TaskState } from '../task/state.ts'

/** How an attempt ended without a decision: rejected by code, failed, interrupted. */
export interface Ending {
  cause: 'rejected' | 'interrupted' | AttemptFailure
  detail: string
  reports: readonly CheckReport[]
}

/** What there is to say where everything said before was reset. */
export const nothingSaid: Feedback = {
  category: null,
  summary: 'The attempt before came to nothing.',
  points: [],
  reasoning: [],
  checks: [],
  notes: [],
}

/** What a panel's rejection says to the worker. Where no quorum graded the work, nobody answered what was asked for before: it stays asked for. */
export function feedbackOnDecision(state: TaskState, decision: Decision): Feedback {
  const recurring = decision.category !== null && recurs(state.ledger, decision)
  const asked = decision.points.map(({ from, text }) => ({ source: sourceOf(from), from, text }))
  return {
    category: decision.category,
    summary: decision.concern,
    points: numbered(decision.graded ? asked : onTopOf(state.feedback, asked)),
    reasoning: decision.dimensions.flatMap((dimension) =>
      dimension.reasoning.map((reason) => ({ dimension: dimension.name, judge: reason.judge, text: reason.text })),
    ),
    checks: [],
    notes: [
      ...(decision.parse_failed ? ['No judge gave a verdict that could be read, so the work was not accepted; it may still be good.'] : []),
      ...(recurring
        ? [`The category ${decision.category} recurs on the same place: the principle behind the point is missing, not its wording.`]
        : []),
      ...decision.vetoes.map((veto) => `A veto stands: ${veto.judge} found ${veto.criterion} unmet, on evidence that was found.`),
    ],
  }
}

/** What an attempt that never reached a decision leaves to say. No judge saw it, so what judges asked for before stays asked for. */
export function feedbackOnEnding(before: Feedback | undefined, ending: Ending): Feedback {
  const failed = ending.reports.filter((report) => report.outcome !== 'pass')
  const checks = failed.map(({ id, summary }) => ({ source: 'check' as const, from: id, text: `Check ${id} does not pass: ${summary}` }))
  const points = checks.length > 0 ? checks : [{ source: 'runtime' as const, from: ending.cause, text: ending.detail }]
  const interrupted = ending.cause === 'interrupted'
  return {
    category: ending.cause === 'rejected' ? 'acceptance_gap' : null,
    summary: ending.detail,
    points: numbered(onTopOf(before, points)),
    reasoning: before?.reasoning ?? [],
    checks: failed,
    notes: interrupted
      ? ['The attempt before was cut off in the middle: partial effects of it may exist. Look before you repeat anything.']
      : [],
  }
}

/** The last entries, as both sides see them. */
export function visibleLedger(ledger: readonly LedgerEntry[], limit: number): LedgerEntry[] {
  return ledger.slice(-limit)
}

/** The same category as in the entry before, with a pointer in common. */
function recurs(ledger: readonly LedgerEntry[], decision: Decision): boolean {
  const before = ledger.filter((entry) => entry.source === 'panel' && entry.outcome === 'reject').at(-2)
  return before?.category === decision.category && before.pointers.some((pointer) => decision.pointers.includes(pointer))
}

type Point = Omit<PriorPoint, 'ref'>

/** The fresh points after those that judges, checks and the owner made and no review has answered since. What the runtime said goes with its attempt. */
function onTopOf(before: Feedback | undefined, fresh: readonly Point[]): Point[] {
  const asked = (before?.points ?? [])
    .filter(({ source, from }) => source !== 'runtime' || from === 'owner')
    .map(({ ref: _ref, ...point }) => point)
  const saidAgain = (old: Point) => fresh.some(({ from, source, text }) => from === old.from && (source === 'check' || text === old.text))
  return [...asked.filter((point) => !saidAgain(point)), ...fresh]
}

/** Whose word a decision's point is; no agent bears the names of the runtime and the owner. */
function sourceOf(from: string): PriorPoint['source'] {
  return from === 'runtime' || from === 'owner' ? 'runtime' : 'judge'
}

function numbered(points: readonly Point[]): PriorPoint[] {
  return points.map((point, index) => ({ ref: `P${index + 1}`, ...point }))
}
