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
  path: z.string().min(1).optional().describe('Page inside the workspace, served to the check over loopback; or `url`.'),
  url: z.string().min(1).optional().describe('Address of the page; or `path`.'),
}

/** What may be asked for over the network, for kinds that go there. */
const reach = {
  hosts: z.array(z.string().min(1)).optional().describe('Hosts that may be asked, redirects included; without it, any public one.'),
  allowPrivate: z.boolean().optional().describe('Lets addresses be private or of this machine.'),
  timeout: Duration.optional().describe('Time limit for all of it, e.g. `30s`.'),
}

export const HtmlRule = z.enum(['h1', 'main', 'alt', 'title', 'lang', 'viewport'])
export type HtmlRule = z.infer<typeof HtmlRule>

export const BrowserRule = z.enum(['viewport', 'scroll', 'tap', 'axe'])
export type BrowserRule = z.infer<typeof BrowserRule>

/** A mechanical test of the work, written by the task or the policy, never by the worker. */
export const CheckSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    ...shared,
    argv: z.array(z.string()).min(1).describe('Program and arguments; no shell.'),
    cwd: z.string().optional().describe('Folder inside the workspace to run in.'),
    timeout: Duration.optional().describe('Time limit, e.g. `90s`.'),
    env: z.array(EnvName).optional().describe('Names of environment variables passed through.'),
    network: z.boolean().optional().describe('True: it may use the network; otherwise, in a sandbox, only a loopback of its own.'),
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
    paths: z.array(z.string()).optional().describe('Globs of files to look in; without it, all that changed.'),
    allow: z.array(z.string().min(1)).optional().describe('Texts that are no placeholders here, e.g. `TODO.md`.'),
  }),
  z.strictObject({
    kind: z.literal('http'),
    ...shared,
    ...page,
    ...reach,
    status: z.int().min(100).max(599).optional().describe('Status expected; without it, 200.'),
    headers: z.record(z.string(), z.string()).optional().describe('Headers expected, by name.'),
    contains: z.array(z.string()).optional().describe('Texts that the body must contain.'),
    redirects: z.int().nonnegative().max(20).optional().describe('Redirects that are followed; without it, none.'),
  }),
  z.strictObject({
    kind: z.literal('html'),
    ...shared,
    ...page,
    ...reach,
    rules: z
      .array(HtmlRule)
      .min(1)
      .optional()
      .describe('Which rules: exactly one h1, a main landmark, alt text on images, title, lang, viewport. Without it, all.'),
  }),
  z.strictObject({
    kind: z.literal('browser'),
    ...shared,
    ...page,
    ...reach,
    width: z.int().min(200).max(4000).optional().describe('Width of the viewport in CSS pixels; without it, 390.'),
    rules: z
      .array(BrowserRule)
      .min(1)
      .optional()
      .describe('Which rules: viewport meta, no sideways scroll, tap targets, axe-core serious and critical. Without it, all.'),
  }),
  z.strictObject({
    kind: z.literal('diff'),
    ...shared,
    nonEmpty: z.boolean().optional().describe('True: something must have changed.'),
    paths: z.array(z.string()).optional().describe('Globs of which every changed file must match one.'),
    maxFiles: z.int().nonnegative().optional().describe('Most files changed.'),
    maxBytes: z.int().nonnegative().optional().describe('Most bytes of all changed files together, as they are now.'),
  }),
])
export type CheckSpec = z.infer<typeof CheckSpec>

/** A bundle of checks under one name, written where a check may be written. */
export const CheckTemplate = z.strictObject({
  kind: z.literal('landing-page'),
  ...shared,
  ...page,
  hosts: reach.hosts,
  allowPrivate: reach.allowPrivate,
  keyword: z.string().min(1).describe('Text that the page must contain.'),
})
export type CheckTemplate = z.infer<typeof CheckTemplate>

/** What files may list under `checks`. */
export const CheckEntry = z.discriminatedUnion('kind', [...CheckSpec.options, CheckTemplate])
export type CheckEntry = z.infer<typeof CheckEntry>

/** The checks that a written list stands for: templates become what they bundle, in their place. */
export function expandChecks(entries: readonly CheckEntry[]): CheckSpec[] {
  return entries.flatMap((entry) => (entry.kind === 'landing-page' ? landingPage(entry) : [entry]))
}

function landingPage({ kind, id = kind, keyword, path, url, hosts, allowPrivate, proves, protect }: CheckTemplate): CheckSpec[] {
  const timeout = '60s'
  const guard = { ...(proves !== undefined && { proves }), ...(protect !== undefined && { protect }) }
  const target = {
    ...guard,
    ...(path !== undefined && { path }),
    ...(url !== undefined && { url }),
    ...(hosts !== undefined && { hosts }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  }
  return [
    { kind: 'http', id: `${id}-http`, ...target, timeout, status: 200, contains: [keyword] },
    { kind: 'placeholders', id: `${id}-placeholders`, ...guard, ...(path !== undefined && { paths: [path] }) },
    { kind: 'html', id: `${id}-html`, ...target, timeout, rules: ['h1', 'main', 'alt'] },
    { kind: 'browser', id: `${id}-mobile`, ...target, timeout },
  ]
}

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
  /** Files that the check kept for people and judges, e.g. a screenshot, by the digest of their bytes. */
  evidence: z
    .array(z.strictObject({ name: z.string(), mediaType: z.string(), digest: z.string(), bytes: z.int().nonnegative() }))
    .optional(),
  /** The same check found this on the same content before; it was not run again. */
  cached: z.boolean().optional(),
})
export type CheckReport = z.infer<typeof CheckReport>

/** A check's name in reports and evidence: its own, or its kind and place in the task's list. */
export function checkId(spec: CheckSpec, index: number): string {
  return spec.id ?? `${spec.kind}-${index + 1}`
}
