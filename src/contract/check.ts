import { z } from 'zod'
import { Duration } from './config/duration.ts'
import { EnvName } from './config/env-name.ts'

const shared = {
  id: z.string().min(1).max(64).optional().describe('Name of the check in reports and evidence (`check:id`). Default: its kind and place.'),
  proves: z
    .array(z.string())
    .optional()
    .describe(
      'Ids of criteria that this check proves by itself. A task whose criteria are all proven this way may leave no change behind.',
    ),
  protect: z
    .array(z.string())
    .optional()
    .describe('Globs of files restored from the base before the check runs; a worker that edited them is reported.'),
}

const page = {
  path: z.string().optional().describe('Page inside the workspace; or `url`.'),
  url: z.string().optional().describe('Address of the page; or `path`.'),
}

/** A mechanical test of the work, written by the task or the policy, never by the worker. */
export const CheckSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    ...shared,
    argv: z.array(z.string()).min(1).describe('Program and arguments; no shell.'),
    cwd: z.string().optional().describe('Folder inside the workspace to run in.'),
    timeout: Duration.optional().describe('Time limit, e.g. `90s`.'),
    env: z.array(EnvName).optional().describe('Names of environment variables passed through.'),
  }),
  z.strictObject({
    kind: z.literal('file'),
    ...shared,
    path: z.string().min(1).describe('File or folder inside the workspace.'),
    exists: z.boolean().optional().describe('False: it must not be there.'),
    matches: z.string().optional().describe('Linear-time regular expression that the content must match.'),
    minBytes: z.int().nonnegative().optional().describe('Least size.'),
    maxBytes: z.int().nonnegative().optional().describe('Most size.'),
    jsonSchema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema that the parsed content must satisfy.'),
  }),
  z.strictObject({
    kind: z.literal('text'),
    ...shared,
    path: z.string().optional().describe("File to look in; without it, the worker's output."),
    contains: z.array(z.string()).optional().describe('Texts that must all be there.'),
    absent: z.array(z.string()).optional().describe('Texts none of which may be there.'),
    regex: z.string().optional().describe('Linear-time regular expression that must match.'),
  }),
  z.strictObject({
    kind: z.literal('placeholders'),
    ...shared,
    paths: z.array(z.string()).optional().describe('Globs of files to look in; without it, all.'),
  }),
  z.strictObject({
    kind: z.literal('http'),
    ...shared,
    url: z.string().describe('Address to request.'),
    status: z.int().optional().describe('Status expected.'),
    headers: z.record(z.string(), z.string()).optional().describe('Headers expected, by name.'),
    contains: z.array(z.string()).optional().describe('Texts that the body must contain.'),
    redirects: z.int().nonnegative().optional().describe('Redirects that are followed.'),
    allowPrivate: z.boolean().optional().describe('Lets the address be a private one.'),
  }),
  z.strictObject({ kind: z.literal('html'), ...shared, ...page }),
  z.strictObject({ kind: z.literal('browser'), ...shared, ...page }),
  z.strictObject({
    kind: z.literal('diff'),
    ...shared,
    nonEmpty: z.boolean().optional().describe('True: something must have changed.'),
    paths: z.array(z.string()).optional().describe('Globs that every changed file must match.'),
    maxBytes: z.int().nonnegative().optional().describe('Most size.'),
  }),
])
export type CheckSpec = z.infer<typeof CheckSpec>

/** What one check found. `error` is a check that could not do its job (signal, time-out, missing command, crash): it counts as a failure. */
export const CheckReport = z.strictObject({
  id: z.string(),
  kind: z.string(),
  outcome: z.enum(['pass', 'fail', 'error']),
  /** One line for people. */
  summary: z.string(),
  /** The exact output, as the worker and the judges get it; what was left out is named inside. */
  output: z.string(),
  /** Protected files that the worker had changed. */
  findings: z.array(z.string()),
  durationMs: z.number().nonnegative().optional(),
})
export type CheckReport = z.infer<typeof CheckReport>

/** A check's name in reports and evidence: its own, or its kind and place in the task's list. */
export function checkId(spec: CheckSpec, index: number): string {
  return spec.id ?? `${spec.kind}-${index + 1}`
}
