import { hash } from 'node:crypto'
import type { HttpProblem } from '../../../contract/http/problem.ts'
import type { Refused } from './problem.ts'

/** What a route comes to: a body, bytes, or a refusal. */
export type Answer<Body> =
  | { body: Body; status?: 200 | 201 | 202; headers?: Record<string, string> }
  | { bytes: Uint8Array; headers: Record<string, string> }
  | Refused

/** A whole reply as text, so that it can be kept and said again. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string | Uint8Array
}

/** Nothing of the API is kept by anybody between, framed, or taken for something else than it says. */
const guarding = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
}

export function replyOf<Body>(answer: Answer<Body>): Reply {
  if ('refused' in answer) return problemReply(answer.refused)
  if ('bytes' in answer) return { status: 200, headers: { ...guarding, ...answer.headers }, body: answer.bytes }
  return {
    status: answer.status ?? 200,
    headers: { ...guarding, 'content-type': 'application/json', ...answer.headers },
    body: JSON.stringify(answer.body),
  }
}

export function problemReply(problem: HttpProblem): Reply {
  const retry = problem.status === 503 ? { 'retry-after': '2' } : {}
  const challenge = problem.status === 401 ? { 'www-authenticate': 'Bearer realm="assay"' } : {}
  return {
    status: problem.status,
    headers: { ...guarding, 'content-type': 'application/problem+json', ...retry, ...challenge },
    body: JSON.stringify(problem),
  }
}

/** A read that has not changed since is not sent again. */
export function unlessKnown(reply: Reply, known: string | undefined): Reply {
  if (reply.status !== 200) return reply
  const tag = `"${hash('sha256', reply.body, 'base64url').slice(0, 27)}"`
  const headers = { ...reply.headers, 'cache-control': 'no-cache', etag: tag }
  const tags = (known ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return tags.includes(tag) ? { status: 304, headers: { etag: tag, 'cache-control': 'no-cache' }, body: '' } : { ...reply, headers }
}
