import type { HttpProblem, HttpProblemCode } from '../../../contract/http/problem.ts'
import type { z } from 'zod'
import type { HttpProblemDetail } from '../../../contract/http/problem.ts'

/** A request that came to nothing, as a value. */
export interface Refused {
  refused: HttpProblem
}

interface More {
  errors?: z.infer<typeof HttpProblemDetail>[]
  verdict?: string
}

const statuses: Partial<Record<HttpProblemCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  host_refused: 403,
  origin_refused: 403,
  not_assignee: 403,
  self_review: 403,
  not_on_panel: 403,
  bypass_refused: 403,
  type_reserved: 403,
  not_found: 404,
  deliverable_unknown: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_request: 400,
  bad_command: 400,
  bad_answer: 400,
  reason_required: 400,
  deliverable_missing: 400,
  cannot_carry_deliverable: 400,
  invalid_mission: 422,
  key_reused: 422,
  busy: 503,
  stopping: 503,
  store_fault: 503,
  internal: 500,
}

/** Whatever else is refused is so because of how things stand now. */
const conflict = 409

export function refuse(code: HttpProblemCode, detail: string, more: More = {}): Refused {
  return {
    refused: {
      type: `urn:assay:problem:${code}`,
      title: code.replaceAll('_', ' '),
      status: statuses[code] ?? conflict,
      code,
      detail,
      ...more,
    },
  }
}

/** A refusal of the engine, in the words of HTTP. */
export function refusedBy({ code, message }: { code: string; message: string }): Refused {
  const racing = code === 'lease_lost' || code === 'conflict' || code === 'too_fast'
  return refuse(racing ? 'busy' : (code as HttpProblemCode), message)
}

const faults = new Set(['JournalFault', 'UnknownEvent', 'SnapshotFault', 'StoreFault', 'WorkspaceFault'])

/** A thrown error: the store failed, or it is a bug. Whoever asked hears no more than that. */
export function refusedFor(error: unknown): Refused {
  const { name, message } = error as Error
  if (faults.has(name)) return refuse('store_fault', message)
  return refuse('internal', 'an error that should not happen; the server has written it down')
}
