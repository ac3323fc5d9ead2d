import { SpanStatusCode, trace } from '@opentelemetry/api'
import { logs, SeverityNumber } from '@opentelemetry/api-logs'
import type { Telemetry } from '../../ports/telemetry.ts'

const scope = 'assay'

/** Through the OpenTelemetry API alone: without an SDK, which whoever runs Assay brings, all of this does nothing. */
export function openTelemetry(): Telemetry {
  const tracer = trace.getTracer(scope)
  const logger = logs.getLogger(scope)
  return {
    span: (name, attributes, run) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await run()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
          throw error
        } finally {
          span.end()
        }
      }),
    evaluation: ({ name, score, label, explanation, attributes }) =>
      logger.emit({
        eventName: 'gen_ai.evaluation.result',
        severityNumber: SeverityNumber.INFO,
        attributes: {
          ...attributes,
          'gen_ai.evaluation.name': name,
          ...(score !== undefined && { 'gen_ai.evaluation.score.value': score }),
          'gen_ai.evaluation.score.label': label,
          'gen_ai.evaluation.explanation': explanation,
        },
      }),
  }
}
