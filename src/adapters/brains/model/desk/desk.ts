import { z } from 'zod'
import { excerpt } from '../../../../contract/source/shown.ts'
import { editText, readText, writeText } from './files.ts'
import type { Grounds, Refusal } from './inside.ts'
import { runCommand, type Shop } from './run-tool.ts'
import { grepFiles, listFiles } from './search.ts'

/** Most characters of one answer, lines of a file that are read unless told, and seconds that a program may take. */
const most = { answer: 24_000, lines: 400, defaultSeconds: 120, seconds: 1_800 }

/** What a call came to, for the model's eyes. `mistake`: nothing was done, because the call makes no sense. */
export interface Answer {
  text: string
  mistake?: true
}

/** A call whose arguments were understood. `stopped`: the signal ended it in the middle. */
export type Doing = (signal: AbortSignal, leftMs: number) => Promise<Answer | 'stopped'>

export interface DeskTool {
  description: string
  schema: Record<string, unknown>
  /** It changes something: never done twice, and written down before it is done. */
  effects: boolean
  understand(input: unknown): Doing | Refusal
}

const ReadFile = z.object({
  path: z.string().describe('Path below the workspace.'),
  from: z.int().min(1).nullish().describe('First line, from 1.'),
  lines: z.int().min(1).max(2_000).nullish().describe('How many lines.'),
})
const WriteFile = z.object({
  path: z.string().describe('Path below the workspace.'),
  content: z.string().describe('All of the new content.'),
})
const EditFile = z.object({
  path: z.string().describe('Path below the workspace.'),
  old: z.string().min(1).describe('Text that stands in the file exactly once.'),
  new: z.string().describe('Text to put in its place.'),
})
const List = z.object({
  path: z.string().nullish().describe('Only below this folder.'),
  glob: z.string().nullish().describe('Only paths that match, e.g. `src/**/*.ts`.'),
})
const Grep = List.extend({ pattern: z.string().min(1).describe('Regular expression in RE2 syntax.') })
const Run = z.object({
  argv: z.array(z.string()).min(1).max(200).describe('Program and arguments, without a shell; `["sh", "-c", "…"]` for one.'),
  seconds: z.int().min(1).max(most.seconds).nullish().describe(`Time limit; ${most.defaultSeconds} unless told.`),
})

/** The tools of a worker over its workspace, always the same and in the same order. */
export function openDesk(grounds: Grounds, shop: Shop): Record<string, DeskTool> {
  return {
    read_file: tool(`Reads lines of a text file, numbered; ${most.lines} unless told.`, false, ReadFile, async ({ path, from, lines }) => {
      const file = await readText(grounds, path)
      return 'why' in file ? refused(file) : { text: numbered(file.text, from ?? 1, lines ?? most.lines) }
    }),
    write_file: tool('Writes a whole text file; folders on the way are made.', true, WriteFile, async ({ path, content }) => {
      const written = await writeText(grounds, path, content)
      if ('why' in written) return refused(written)
      return { text: `${written.created ? 'created' : 'replaced'}: ${path}, ${Buffer.byteLength(content)} bytes` }
    }),
    edit_file: tool('Replaces one piece of a text file, which has to match exactly once.', true, EditFile, async (call) => {
      const edited = await editText(grounds, call.path, call.old, call.new)
      return 'why' in edited ? refused(edited) : { text: `changed: ${call.path}, at line ${edited.line}` }
    }),
    list: tool('Lists the files of the workspace with their sizes.', false, List, async ({ path, glob }) => {
      const found = await listFiles(grounds, { path: path ?? '', glob: glob ?? undefined })
      return 'why' in found ? refused(found) : found
    }),
    grep: tool(
      'Finds lines that match a regular expression in the files of the workspace.',
      false,
      Grep,
      async ({ pattern, path, glob }) => {
        const found = await grepFiles(grounds, pattern, { path: path ?? '', glob: glob ?? undefined })
        return 'why' in found ? refused(found) : found
      },
    ),
    run: tool('Runs a program in the workspace and shows what it prints.', true, Run, ({ argv, seconds }, signal, leftMs) =>
      runCommand(shop, { argv, timeoutMs: Math.max(1, Math.min((seconds ?? most.defaultSeconds) * 1_000, leftMs)) }, signal),
    ),
  }
}

function tool<T>(
  description: string,
  effects: boolean,
  input: z.ZodType<T>,
  act: (call: T, signal: AbortSignal, leftMs: number) => Promise<Answer | 'stopped'>,
): DeskTool {
  return {
    description,
    schema: schemaOf(input),
    effects,
    understand: (given) => {
      const call = input.safeParse(given)
      if (call.success) return (signal, leftMs) => act(call.data, signal, leftMs)
      const first = call.error.issues[0]
      return { why: `The arguments are wrong: ${excerpt(`${first?.path.join('.') ?? ''} ${first?.message ?? ''}`)}` }
    },
  }
}

const schemas = new WeakMap<z.ZodType, Record<string, unknown>>()

/** The JSON Schema of a tool's arguments. It is the same for every attempt, and takes longer to make than to send. */
function schemaOf(input: z.ZodType): Record<string, unknown> {
  const known = schemas.get(input)
  if (known !== undefined) return known
  const { $schema, ...schema } = z.toJSONSchema(input, { io: 'input' }) as Record<string, unknown>
  schemas.set(input, schema)
  return schema
}

function refused({ why }: Refusal): Answer {
  return { text: why, mistake: true }
}

function numbered(text: string, first: number, count: number): string {
  const all = text.split('\n')
  const shown: string[] = []
  let room = most.answer
  for (const [index, line] of all.slice(first - 1, first - 1 + count).entries()) {
    const left = line.length - room
    shown.push(`${first + index}\t${left > 0 ? `${line.slice(0, room)}[${left} more characters]` : line}`)
    room -= line.length + 8
    if (room <= 0) break
  }
  if (shown.length === 0) return `The file has ${all.length} lines, none from ${first} on.`
  return `lines ${first} to ${first + shown.length - 1} of ${all.length}\n${shown.join('\n')}`
}
