import { z } from 'zod'
import { eventSchemas, type EventType, versionOf } from '../../src/contract/events/manifest.ts'
import { referenceMarkdown } from '../../src/contract/config/knobs/reference.ts'
import { routes } from '../../src/doors/http/routes/table.ts'
import type { Route } from '../../src/doors/http/route.ts'
import { allTools } from '../../src/doors/mcp/tools/table.ts'
import { fieldTable, type Schema } from './fields.ts'

const printed = '<!-- Printed from the schemas by scripts/print-reference.ts. Change the schema, then print again. -->'

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema

/** Every page of docs/reference, by its name. */
export function referencePages(): Record<string, string> {
  return { 'configuration.md': referenceMarkdown(), 'mcp.md': mcpPage(), 'http.md': httpPage(), 'events.md': eventsPage() }
}

const page = (lines: readonly string[]): string => `${lines.join('\n')}\n`

function mcpPage(): string {
  const roles = [...new Set(allTools.map(({ role }) => role))]
  const head = [
    '# MCP tools',
    '',
    printed,
    '',
    'Tools of `assay mcp --role <role>` and of `/mcp` in `assay serve`. A role sees its own tools and no others. How to set it up: [the guide](../guides/mcp.md).',
  ]
  const tools = roles.flatMap((role) => [
    '',
    `## ${role}`,
    ...allTools
      .filter((tool) => tool.role === role)
      .flatMap(({ name, description, input, output, hints }) => [
        '',
        `### ${name}`,
        '',
        `${description}${hints.readOnlyHint ? ' Changes nothing.' : hints.idempotentHint ? ' May be repeated.' : ''}`,
        '',
        ...fieldTable(schemaOf(input, 'input'), 'Takes nothing.'),
        '',
        'Answers:',
        '',
        ...fieldTable(schemaOf(output, 'output'), 'Nothing in structure.'),
      ]),
  ])
  return page([...head, ...tools])
}

function httpPage(): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))]
  const head = [
    '# HTTP routes',
    '',
    printed,
    '',
    'Routes of `assay serve`; the same as OpenAPI 3.1 at `/v1/openapi.json`. How to use them: [the guide](../guides/http.md).',
  ]
  const listed = tags.flatMap((tag) => ['', `## ${tag}`, ...routes.filter((route) => route.tag === tag).flatMap(routeSection)])
  return page([...head, ...listed])
}

function routeSection({ method, path, scope, summary, query, body, reply, status }: Route): string[] {
  const asked =
    body === 'text'
      ? ['', 'The body is a mission as it is written, YAML or JSON.']
      : body === undefined
        ? []
        : ['', 'Body:', '', ...fieldTable(schemaOf(body, 'input'), 'An empty object.')]
  const answers =
    reply === 'bytes'
      ? ['', 'Answers with the bytes.']
      : reply === 'events'
        ? ['', 'Answers with server-sent events.']
        : ['', `Answers (${status.join(', ')}):`, '', ...fieldTable(schemaOf(reply, 'output'), 'Nothing.')]
  return [
    '',
    `### ${method.toUpperCase()} ${path}`,
    '',
    `${summary} ${scope === 'owner' ? 'The owner alone.' : 'An agent for itself, and the owner.'}`,
    ...(query === undefined ? [] : ['', 'Query:', '', ...fieldTable(schemaOf(query, 'input'), 'Nothing.')]),
    ...asked,
    ...answers,
  ]
}

function eventsPage(): string {
  const types = (Object.keys(eventSchemas) as EventType[]).sort()
  const head = [
    '# Events',
    '',
    printed,
    '',
    'Everything that can be in the journal, as `assay audit --json`, the live stream and notifications have it in `data`. A shape keeps its version; a changed one gets a higher version.',
  ]
  const listed = types.flatMap((type) => [
    '',
    `## ${type}`,
    '',
    ...(versionOf(type) === 1 ? [] : [`Version ${versionOf(type)}.`, '']),
    ...fieldTable(schemaOf(eventSchemas[type], 'output'), 'No data.'),
  ])
  return page([...head, ...listed])
}
