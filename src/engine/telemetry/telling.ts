import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Lease } from '../../contract/work.ts'
import type { EvaluationResult, Telemetry } from '../../ports/telemetry.ts'
import { missionOf, taskOf } from '../streams.ts'

/** Kinds of work that have a span, by the name that the GenAI conventions give such an operation. */
const operations: Record<string, string> = {
  run_attempt: 'invoke_agent worker',
  run_checks: 'execute_tool checks',
  ask_judge: 'invoke_agent judge',
}

/** Does a piece of work inside a span of its own, where it has one and somebody listens. */
export function observed(telemetry: Telemetry | undefined, lease: Lease, run: () => Promise<void>): Promise<void> {
  const name = operations[lease.kind]
  if (!telemetry || name === undefined) return run()
  const { task = '', review, seat } = lease.payload as { task?: string; review?: number; seat?: number }
  const place = { ...(review !== undefined && { 'assay.review': review }), ...(seat !== undefined && { 'assay.seat': seat }) }
  const operation = name.split(' ')[0] as string
  return telemetry.span(name, { 'gen_ai.operation.name': operation, 'assay.task': task, ...place }, run)
}

/** The evaluation that an event is, if it is one. Work sent back is `needs_revision`; where nobody could be read it is no evaluation. */
export function evaluationOf({ stream, type, data }: StoredEvent): EvaluationResult | undefined {
  const task = taskOf(stream)
  if (type !== 'review.decided' || task === undefined) return undefined
  const { decision, attempt } = data as EventData<'review.decided'>
  if (!decision.graded) return undefined
  return {
    name: 'assay.review',
    label: decision.outcome === 'pass' ? 'pass' : 'needs_revision',
    explanation: decision.concern,
    attributes: { 'assay.task': task, 'assay.mission': missionOf(stream) ?? '', 'assay.attempt': attempt, 'assay.bar': decision.bar },
    ...(decision.score && { score: decision.score.on5 }),
  }
}
