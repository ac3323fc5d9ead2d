import { z } from 'zod'
import { Case } from '../../contract/case.ts'
import { CheckEntry } from '../../contract/check.ts'
import { CardRequest, DeliverableId } from '../../contract/deliverable/deliverable.ts'
import type { Refusal, Result } from '../../contract/errors.ts'
import { CriterionEntry } from '../../contract/mission/mission.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { named } from '../../contract/source/shown.ts'
import { DelegateCall } from '../../engine/delegation/delegate.ts'

/** A path in a snapshot: below its folder, and in one way of writing it. */
function isPlain(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are what is refused
  return !/[\\\u0000-\u001f]/.test(path) && path.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
}

const Files = z
  .record(
    z.string(),
    z.custom<string | Uint8Array>((content) => typeof content === 'string' || content instanceof Uint8Array, 'a file is text or bytes'),
  )
  .superRefine((files, context) => {
    const paths = Object.keys(files)
    const folders = new Set(paths.flatMap((path) => path.split('/').map((_, depth, steps) => steps.slice(0, depth).join('/'))))
    for (const path of paths) {
      if (!isPlain(path)) context.addIssue({ code: 'custom', message: `${named(path)} is no plain relative path` })
      else if (folders.has(path)) context.addIssue({ code: 'custom', message: `${named(path)} is a file and a folder` })
    }
  })

const kinds = ['text', 'files', 'path', 'url'] as const

/** The work itself: a text, files by path, or something to be read from the disk or the web. */
export type Work =
  | { text: string }
  | { files: Record<string, string | Uint8Array> }
  | { path: string; cwd?: string }
  | { url: string; allowPrivate?: boolean }

const Work = z
  .strictObject({
    text: z.string().optional(),
    files: Files.optional(),
    path: z
      .string()
      .min(1)
      .regex(/^[^\0]*$/, 'a path holds no NUL')
      .optional(),
    cwd: z
      .string()
      .min(1)
      .regex(/^[^\0]*$/, 'a path holds no NUL')
      .optional(),
    url: z.url({ protocol: /^https?$/, error: 'expected an address that begins with http:// or https://' }).optional(),
    allowPrivate: z.boolean().optional(),
  })
  .refine((work) => kinds.filter((kind) => work[kind] !== undefined).length === 1, 'give one of `text`, `files`, `path` and `url`')
  .refine(({ cwd, path }) => cwd === undefined || path !== undefined, '`cwd` goes with `path`')
  .refine(({ allowPrivate, url }) => allowPrivate === undefined || url !== undefined, '`allowPrivate` goes with `url`')
  .transform((work) => work as Work)

const Title = z.string().trim().min(1).max(300)

export const ReviewRequest = z.strictObject({
  work: Work,
  task: z.string().optional(),
  title: Title.optional(),
  criteria: z.array(CriterionEntry).max(500).optional(),
  checks: z.array(CheckEntry).max(200).optional(),
  author: z.string().min(1).optional(),
  case: Case.optional(),
})

export const DeliverableRequest = z.strictObject({
  id: DeliverableId,
  producer: z.string().trim().min(1),
  title: Title.optional(),
  work: Work,
  task: z.string().optional(),
  criteria: z.array(z.string().trim().min(1)).max(500).optional(),
})

const Delegator = z.strictObject({ by: z.string().min(1), parent: z.string().min(1).optional() })
const [OneTask, SeveralTasks] = DelegateCall.options

/** What the shape of a call shows it to be is what its problems are told for. */
export function readDelegation(call: unknown, from: unknown): Result<{ call: DelegateCall; from: z.infer<typeof Delegator> }> {
  const several = typeof call === 'object' && call !== null && 'tasks' in call
  return readArguments(z.strictObject({ call: several ? SeveralTasks : OneTask, from: Delegator }), { call, from })
}

export const readCard = (card: unknown, from: unknown): Result<{ card: CardRequest; from: string }> =>
  readArguments(z.strictObject({ card: CardRequest, from: z.string().min(1) }), { card, from })

export function readRequest<S extends z.ZodType>(schema: S, request: unknown): Result<z.output<S>> {
  const read = readArguments(z.strictObject({ request: schema }), { request })
  return read.ok ? { ok: true, value: (read.value as { request: z.output<S> }).request } : read
}

/** A mission as text; an object is written out, which one that refers to itself cannot be. */
export function readMission(mission: unknown): Result<string> {
  const read = readArguments(z.strictObject({ mission: z.union([z.string(), z.record(z.string(), z.unknown())]) }), { mission })
  if (!read.ok) return read
  try {
    return { ok: true, value: typeof read.value.mission === 'string' ? read.value.mission : JSON.stringify(read.value.mission) }
  } catch (error) {
    if (error instanceof TypeError) return refused(`\`mission\` cannot be written as JSON: ${error.message.split('\n')[0]}`)
    throw error
  }
}

/** What callers without types may hand over: everything that is wrong with it, by the name of the field. */
function readArguments<S extends z.ZodType>(schema: S, value: object): Result<z.output<S>> {
  const parsed = parseWith(schema, value)
  if (parsed.ok) return parsed
  return refused(parsed.error.map(({ message, fix }) => (fix === undefined ? message : `${message} (${fix})`)).join('\n'))
}

const refused = (message: string): { ok: false; error: Refusal } => ({ ok: false, error: { code: 'bad_command', message } })
