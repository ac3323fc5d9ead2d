import { z } from 'zod'
import { GateRefusal } from '../deliverable/deliverable.ts'
import { RefusalCode } from '../errors.ts'

/** Every way an HTTP request can fail. Closed: what a command or the gate refuses with, and what only a server can say. */
export const HttpProblemCode = z.enum([
  ...RefusalCode.options,
  ...GateRefusal.exclude(['policy_changed']).options,
  'other_plan_running',
  'unauthorized',
  'forbidden',
  'host_refused',
  'origin_refused',
  'invalid_request',
  'invalid_mission',
  'body_too_large',
  'unsupported_media_type',
  'method_not_allowed',
  'key_reused',
  'position_unknown',
  'busy',
  'stopping',
  'store_fault',
  'internal',
])
export type HttpProblemCode = z.infer<typeof HttpProblemCode>

/** One thing that is wrong with a request or with the mission in it. */
export const HttpProblemDetail = z.strictObject({
  pointer: z.string().describe('Where: a JSON pointer into the body, or `file:line:column` of a mission.'),
  detail: z.string(),
})

/** `application/problem+json` (RFC 9457). */
export const HttpProblem = z.strictObject({
  type: z.string().describe('`urn:assay:problem:` and the code.'),
  title: z.string().describe('The code in words.'),
  status: z.int(),
  code: HttpProblemCode,
  detail: z.string().describe('What was wrong, and what to do instead.'),
  errors: z.array(HttpProblemDetail).optional(),
  verdict: z.string().optional().describe('Of a card that the gate refused: what the review has come to so far.'),
})
export type HttpProblem = z.infer<typeof HttpProblem>
