import type { z } from 'zod'
import type { Answer } from './answer/reply.ts'
import type { Call } from './door.ts'

/** `owner`: the owner alone. `worker`: a worker for itself, and the owner. */
export type RouteScope = 'owner' | 'worker'

/** A route as the server, the OpenAPI document and the test of scopes read it. */
export interface Route {
  method: 'get' | 'post'
  /** As OpenAPI writes it: `/v1/tasks/{task}`. */
  path: string
  scope: RouteScope
  summary: string
  /** Group in the document. */
  tag: string
  params?: z.ZodObject
  query?: z.ZodObject
  /** Schema of the JSON body; or `text`, a mission as it is written. */
  body?: z.ZodType | 'text'
  /** Schema of the reply; or bytes of a file; or the live stream, which the server speaks itself. */
  reply: z.ZodType | 'bytes' | 'events'
  /** Codes of success. */
  status: readonly (200 | 201 | 202)[]
  handle(call: Call<never, never, never>): Promise<Answer<unknown>>
}

interface Written<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType | 'text', R extends z.ZodType | 'bytes'>
  extends Pick<Route, 'method' | 'path' | 'scope' | 'summary' | 'tag'> {
  params?: P
  query?: Q
  body?: B
  reply: R
  status?: Route['status']
  handle(
    call: Call<z.output<P>, z.output<Q>, B extends z.ZodType ? z.output<B> : string>,
  ): Promise<Answer<R extends z.ZodType ? z.input<R> : never>>
}

/** A route whose handler is held to its schemas by the compiler. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType | 'text', R extends z.ZodType | 'bytes'>(
  written: Written<P, Q, B, R>,
): Route {
  return { status: [200], ...written } as Route
}
