import { z } from 'zod'
import { Duration } from '../../../contract/config/duration.ts'
import { Category, Usage } from '../../../contract/verdict.ts'

const longestText = 1024 * 1024

const outside = 'expected a path inside the workspace: relative, without `..`'
const isInside = (path: string): boolean =>
  path.length <= 1000 && !path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..') && /[^/.]/.test(path)

/** Texts by path. A bad path is told by itself: its text says nothing about what is wrong. */
const Texts = z.record(z.string(), z.string().max(longestText)).superRefine((texts, context) => {
  for (const path of Object.keys(texts).filter((name) => !isInside(name))) {
    context.addIssue({ code: 'custom', path: [path], message: outside, params: { secret: true } })
  }
})

/** A text, or one repeated so often that it is more than anybody keeps. */
const Printed = z.union([
  z.string().max(longestText),
  z.strictObject({ text: z.string().min(1).max(longestText), times: z.int().min(1).max(10_000_000) }),
])

const ExplicitCase = z.looseObject({ summary: z.unknown() })

const CaseForms = z.union([
  z.enum(['auto', 'none']),
  z.strictObject({ auto: z.string().min(1), summary: z.string().min(1).optional() }),
  z.strictObject({ raw: z.string() }),
  ExplicitCase,
])
export type CaseWords = z.infer<typeof CaseForms>

/** What a scripted worker submits. `auto` covers every criterion with one pointer. */
const CaseWords = z.custom<CaseWords>(
  (value) => CaseForms.safeParse(value).success,
  'expected `auto`, `none`, `{ auto: pointer }`, `{ raw: text }`, or a case with a `summary`',
)

/** Ways for a turn to go wrong. The first two happen before anything was done, the others after it. */
const Fault = z.enum(['not_found', 'spawn_error', 'timeout', 'crash', 'hang', 'throw'])

/** One turn of a scripted worker, in the order in which it happens. */
export const WorkStep = z
  .strictObject({
    delay: Duration.optional(),
    write: Texts.optional(),
    append: Texts.optional(),
    delete: z.array(z.string().refine(isInside, outside)).optional(),
    print: Printed.optional(),
    case: CaseWords.optional(),
    exit: z.int().min(1).max(255).optional(),
    fault: Fault.optional(),
    /** How many tries of the same turn the fault spoils; without it, all. */
    times: z.int().min(1).max(100).optional(),
    usage: Usage.optional(),
  })
  .refine((step) => step.exit === undefined || step.fault === undefined, 'a turn fails by `exit` or by `fault`, not by both')
  .refine((step) => step.case === undefined || step.exit === undefined, 'a turn that exits with a code submits no case')
  .refine((step) => step.times === undefined || step.fault !== undefined, '`times` says how often a `fault` happens')
export type WorkStep = z.infer<typeof WorkStep>

const any = { delay: Duration.optional(), usage: Usage.optional() }
const Met = z.enum(['yes', 'no', 'cannot_tell'])
const Level = z.int().min(1).max(5)
const Evidence = z.union([z.string().min(1), z.array(z.string().min(1))])

/** A verdict in few words; what is not said is filled in so that the whole is well-formed. */
export const Grade = z.strictObject({
  accept: z.boolean(),
  scores: z.union([Level, z.record(z.string(), Level)]).optional(),
  criteria: z
    .record(z.string(), z.union([Met, z.strictObject({ met: Met, evidence: Evidence.optional(), reasoning: z.string().optional() })]))
    .optional(),
  prior: z.union([z.enum(['yes', 'no', 'partly']), z.record(z.string(), z.enum(['yes', 'no', 'partly']))]).optional(),
  evidence: Evidence.optional(),
  concern: z.string().min(1).optional(),
  reasoning: z.string().min(1).optional(),
  category: Category.optional(),
  next_step: z.string().min(1).optional(),
  nonce: z.string().optional(),
  ...any,
})
export type Grade = z.infer<typeof Grade>

/** What a scripted judge may answer, by the word that tells which it is. */
export const answerForms = {
  accept: Grade,
  text: z.strictObject({ text: z.string().max(longestText), ...any }),
  raw: z.strictObject({
    raw: z.string().max(longestText),
    channel: z.enum(['tool', 'text']).optional(),
    finish: z.string().optional(),
    ...any,
  }),
  unavailable: z.strictObject({ unavailable: z.string().min(1), ...any }),
  hang: z.strictObject({ hang: z.literal(true) }),
  throw: z.strictObject({ throw: z.string().min(1) }),
}
export type AnswerForm = keyof typeof answerForms
export type Answer = { [F in AnswerForm]: { form: F; words: z.infer<(typeof answerForms)[F]> } }[AnswerForm]

/** The file before its steps and answers are looked at one by one. */
export const ScriptFile = z.strictObject({
  workers: z.record(z.string(), z.array(z.unknown()).min(1).max(1000)).default({}),
  judges: z
    .record(z.string(), z.union([z.array(z.unknown()).min(1).max(1000), z.record(z.string(), z.array(z.unknown()).min(1).max(1000))]))
    .default({}),
})
