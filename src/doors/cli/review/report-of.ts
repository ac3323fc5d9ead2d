import type { AssayEvent, EventData } from '../../../contract/events/manifest.ts'
import type { Decision, Sitting } from '../../../contract/review.ts'
import type { OneShotEnd } from '../../../engine/review/one-shot.ts'
import type { Subject } from '../app.ts'
import { degradedWords } from '../render/event.ts'
import { endingOf, type JudgeReport, type ReviewReport } from '../report/report.ts'

/** What a review came to, from its events; `result` where somebody else says what it came to. */
export function reportOf(
  subject: Pick<Subject, 'kind' | 'name' | 'digest'>,
  end: OneShotEnd,
  evaluated: boolean,
  durationMs: number,
  result?: ReviewReport['result'],
): ReviewReport {
  const { state, events } = end
  const { spec } = state
  const carried = last(events, 'decision.carried')
  const decision = carried?.decision ?? last(events, 'review.decided')?.decision
  const opened = last(events, 'review.opened')
  const sittings = events.flatMap((event) => (event.type === 'verdict.recorded' ? [event.data.sitting] : []))
  const checks = events.flatMap((event) => (event.type === 'checks.passed' || event.type === 'checks.failed' ? event.data.reports : []))
  const score = decision?.score
  const ending = endingOf(result ?? resultOf(end, decision), evaluated)
  const turned = ending.result === 'owner-accepted' ? last(events, 'task.overruled') : undefined
  return {
    subject: { kind: subject.kind, name: subject.name, digest: subject.digest },
    ...ending,
    ...(turned && { accepted: { by: turned.by, reason: turned.reason } }),
    ...(score && { score }),
    bar: decision?.bar ?? spec.bar,
    category: decision?.category ?? (last(events, 'attempt.rejected')?.category || null),
    concern: decision?.concern ?? last(events, 'attempt.rejected')?.detail ?? state.hold?.detail ?? '',
    nextSteps: decision?.outcome === 'reject' ? decision.points : [],
    criteria: spec.criteria.map(({ id, text, hard }) => ({ id, text, hard, answers: answersOn(id, sittings) })),
    dimensions: spec.dimensions.map(({ name }) => {
      const found = decision?.dimensions.find((one) => one.name === name)
      return { name, ...(found && { score: found.score }), reasoning: found?.reasoning ?? [] }
    }),
    judges: judgesOf(events),
    checks,
    suspicions: opened?.suspicions ?? [],
    warnings: [
      ...(carried ? [`exactly this was judged before (${carried.from.task}) and rejected: nobody was asked again`] : []),
      ...(opened?.degraded ? [`quorum ${opened.quorum}, ${degradedWords}`] : []),
      ...(opened?.warnings ?? []),
    ],
    ...(opened?.degraded && { degraded: { quorum: opened.quorum } }),
    usage: usageOf(events),
    durationMs,
  }
}

/** Only a clean accept passes. What nobody could grade is inconclusive, never a pass and never a fail. */
function resultOf({ state }: OneShotEnd, decision: Decision | undefined): ReviewReport['result'] {
  const { flag } = state.done ?? {}
  if (state.status === 'done') return flag === 'clean' || flag === 'owner-accepted' || flag === 'below-threshold' ? flag : 'unreviewed'
  if (state.status === 'failed') return decision === undefined || decision.graded ? 'below-threshold' : 'inconclusive'
  return 'inconclusive'
}

function answersOn(id: string, sittings: readonly Sitting[]): ReviewReport['criteria'][number]['answers'] {
  return sittings.flatMap(({ judge, verdict, resolutions }) => {
    const answer = verdict?.criteria.find((one) => one.id === id)
    if (!answer) return []
    const evidence = answer.evidence.map((pointer) => ({
      pointer,
      resolved: resolutions.find((one) => one.pointer === pointer)?.resolved ?? false,
    }))
    return [{ judge, met: answer.met, reasoning: answer.reasoning, evidence }]
  })
}

function judgesOf(events: readonly AssayEvent[]): JudgeReport[] {
  const judges = new Map<string, JudgeReport>()
  for (const { type, data } of events) {
    if (type === 'verdict.recorded') judges.set(data.sitting.judge, sat(data.sitting))
    if (type === 'seat.voided') judges.set(data.judge, { judge: data.judge, outcome: 'void' })
    if (type === 'judge.unavailable') judges.set(data.judge, { judge: data.judge, outcome: 'unavailable', concern: data.detail })
  }
  return [...judges.values()]
}

function sat({ judge, outcome, accepts, score, verdict, text }: Sitting): JudgeReport {
  const concern = verdict?.concern ?? text?.feedback
  return {
    judge,
    outcome: outcome === 'abstained' ? 'abstained' : accepts ? 'accepts' : 'rejects',
    ...(score && { score }),
    ...(concern !== undefined && { concern }),
  }
}

function usageOf(events: readonly AssayEvent[]): ReviewReport['usage'] {
  const total: ReviewReport['usage'] = { calls: 0, inputTokens: 0, outputTokens: 0 }
  for (const { type, data } of events) {
    const answered = type === 'verdict.recorded' || type === 'task.eval.unparsed' || type === 'judge.unavailable'
    if (!answered) continue
    if (type === 'verdict.recorded' && data.reused) {
      total.reused = (total.reused ?? 0) + 1
      continue
    }
    const usage = type === 'verdict.recorded' ? data.sitting.usage : data.usage
    total.calls += 1
    total.inputTokens += usage?.inputTokens ?? 0
    total.outputTokens += usage?.outputTokens ?? 0
    if (usage?.estimated) total.estimated = (total.estimated ?? 0) + 1
    if (usage?.costUsd !== undefined) total.costUsd = (total.costUsd ?? 0) + usage.costUsd
  }
  return total
}

function last<T extends AssayEvent['type']>(events: readonly AssayEvent[], type: T): EventData<T> | undefined {
  return events.findLast((event) => event.type === type)?.data as EventData<T> | undefined
}
