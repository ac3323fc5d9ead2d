import type { z } from 'zod'
import type { Result } from '../../contract/errors.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { readCleanJson } from '../../contract/source/read-json.ts'
import { refuse, type Refused } from './answer/problem.ts'

/** The text of a body, or why it is none; nothing beyond the limit is held. */
export async function bodyText(request: Request, most: number): Promise<Result<string, Refused>> {
  const tooLarge = { ok: false as const, error: refuse('body_too_large', `the body is over ${most} bytes (limits.requestBytes)`) }
  if (Number(request.headers.get('content-length') ?? 0) > most) return tooLarge
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > most) return tooLarge
    chunks.push(chunk)
  }
  try {
    return { ok: true, value: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) }
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, error: refuse('invalid_request', 'the body is no UTF-8 text') }
    throw error
  }
}

const mediaType = (header: string | null): string => (header ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
const missionTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain', 'application/json']

/** What the body says, by its schema. An empty one counts as `{}`; a form of a page is never taken for it. */
export function readBody(type: string | null, text: string, schema: z.ZodType | 'text'): Result<unknown, Refused> {
  const media = mediaType(type)
  if (schema === 'text') {
    if (missionTypes.includes(media)) return { ok: true, value: text }
    return { ok: false, error: refuse('unsupported_media_type', `send a mission as ${missionTypes.slice(0, 1)} or application/json`) }
  }
  if (media !== 'application/json' && !(media === '' && text === ''))
    return { ok: false, error: refuse('unsupported_media_type', 'send application/json') }
  const json = text === '' ? { value: {} } : readCleanJson(text)
  if (!json) return { ok: false, error: refuse('invalid_request', 'the body is no JSON object, or has a key twice') }
  return readWith(schema, json.value, '')
}

/** Path, query or body by its schema; every fault with a pointer to it. */
export function readWith(schema: z.ZodType, value: unknown, where: string): Result<unknown, Refused> {
  const parsed = parseWith(schema, value)
  if (parsed.ok) return parsed
  const errors = parsed.error.map(({ path, message }) => ({
    pointer: `${where}${path.map((step) => `/${escaped(String(step))}`).join('')}`,
    detail: message,
  }))
  return {
    ok: false,
    error: refuse('invalid_request', errors[0]?.detail ?? 'the request cannot be read', { errors: errors.slice(0, 100) }),
  }
}

const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')
