import { z } from 'zod'
import { HttpProblem } from '../../contract/http/problem.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of these routes: their schemas are the ones that requests are parsed with. */
export function openApiOf(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version,
      description:
        'The independent quality gate for AI agents’ work. Every request shows a bearer token: the owner’s, or that of one agent, which reaches nothing but what is that agent’s.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        owner: { type: 'http', scheme: 'bearer', description: 'The owner’s token.' },
        worker: { type: 'http', scheme: 'bearer', description: 'The token of one agent.' },
      },
      schemas: { Problem: schemaOf(HttpProblem, 'output') },
      responses: {
        Problem: {
          description: 'What was wrong, by a closed code.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
}

function operationOf(route: Route): Json {
  const { method, path, scope, summary, tag, params, query, body, status } = route
  const replies = status.map((code) => [
    String(code),
    { description: code === 202 ? 'Under way: ask again.' : 'It is so.', content: contentOf(route) },
  ])
  const parameters = [...parametersOf(params, 'path'), ...parametersOf(query, 'query'), ...headersOf(route)]
  return {
    operationId: `${method}${path.replace('/v1', '').replace(/[/{}]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [tag],
    security: scope === 'owner' ? [{ owner: [] }] : [{ owner: [] }, { worker: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestOf(body) }),
    responses: { ...Object.fromEntries(replies), default: { $ref: '#/components/responses/Problem' } },
  }
}

function contentOf({ reply }: Route): Json {
  if (reply === 'bytes') return { 'application/octet-stream': {} }
  if (reply === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  return { 'application/json': { schema: schemaOf(reply, 'output') } }
}

function requestOf(body: NonNullable<Route['body']>): Json {
  if (body !== 'text') return { content: { 'application/json': { schema: schemaOf(body, 'input') } } }
  const text = { schema: { type: 'string' } }
  return {
    required: true,
    description: 'A mission, as a file would hold it.',
    content: { 'application/yaml': text, 'application/json': {} },
  }
}

function parametersOf(schema: z.ZodObject | undefined, where: 'path' | 'query'): Json[] {
  return Object.entries(schema?.shape ?? {}).map(([name, value]) => {
    const { description, ...rest } = schemaOf(value as z.ZodType, 'output')
    const required = where === 'path' || !(value as z.ZodType).safeParse(undefined).success
    return { name, in: where, required, ...(description !== undefined && { description }), schema: rest }
  })
}

function headersOf({ method, reply }: Route): Json[] {
  const header = (name: string, description: string) => ({ name, in: 'header', required: false, description, schema: { type: 'string' } })
  if (reply === 'events') return [header('Last-Event-ID', 'Position of the last event that was read.')]
  if (method === 'get') return [header('If-None-Match', '`ETag` of the copy at hand: 304 where nothing changed.')]
  return [header('Idempotency-Key', 'A name for this request: repeated under it, it happens once and is answered the same.')]
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
