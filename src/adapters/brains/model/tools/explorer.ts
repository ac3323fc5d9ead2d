import { z } from 'zod'
import { excerpt } from '../../../../contract/source/shown.ts'
import type { SnapshotReader } from '../../../../ports/brain.ts'
import { fenced } from './fence.ts'
import { compileGlob, compilePattern, type Pattern } from './pattern.ts'

/** Most characters of one answer, files of a listing, lines found, characters shown of a line, and bytes of a file that is opened. */
const most = { answer: 24_000, listed: 1_000, found: 200, shownLine: 300, file: 8 * 1024 * 1024 }
/** Most steps of one search: size of the pattern times length of the text. About a second. */
const mostSteps = 20_000_000
const defaultLines = 400

const ReadFile = z.object({ path: z.string(), from: z.int().min(1).nullish(), lines: z.int().min(1).max(2_000).nullish() })
const List = z.object({ prefix: z.string().nullish(), glob: z.string().nullish() })
const Grep = z.object({ pattern: z.string().min(1), prefix: z.string().nullish(), glob: z.string().nullish() })

/** What a judge may do with the work: look at it. Each tool with its description and the JSON Schema of its arguments. */
export const readingTools = {
  read_file: {
    description: `Reads lines of one file of the work, numbered; ${defaultLines} unless told.`,
    schema: object({ path: text('Path as `list` shows it.'), from: count('First line, from 1.'), lines: count('How many lines.') }, [
      'path',
    ]),
  },
  list: {
    description: 'Lists the files of the work with their sizes.',
    schema: object({ prefix: text('Only paths that begin so.'), glob: text('Only paths that match, e.g. `src/**/*.ts`.') }, []),
  },
  grep: {
    description: 'Finds lines that match a regular expression (RE2 syntax) in the files of the work.',
    schema: object(
      { pattern: text('The expression.'), prefix: text('Only in paths that begin so.'), glob: text('Only in paths that match.') },
      ['pattern'],
    ),
  },
}

export interface Explorer {
  /** There is no file to look at. */
  empty: boolean
  /** The answer to a call, for the judge's eyes: bounded, and fenced as data. A call that makes no sense is answered in words. */
  answer(tool: string, input: unknown): Promise<string>
}

interface Files {
  nonce: string
  reader: SnapshotReader
  /** Sizes by path: what is not in here does not exist, however a path is written. */
  sizes: ReadonlyMap<string, number>
}

/** Opens the snapshot under review for a judge. `budget` is the most characters of all answers together. */
export async function openExplorer(reader: SnapshotReader, nonce: string, budget: number): Promise<Explorer> {
  const files: Files = { nonce, reader, sizes: new Map((await reader.files()).map(({ path, size }) => [path, size])) }
  let left = budget
  return {
    empty: files.sizes.size === 0,
    answer: async (tool, input) => {
      const answer = await look(files, tool, input)
      if (answer.length > left)
        return `[an answer of ${answer.length} characters, left out: this sitting may read no more. Call submit_verdict.]`
      left -= answer.length
      return answer
    },
  }
}

async function look(files: Files, tool: string, input: unknown): Promise<string> {
  if (tool === 'read_file') {
    const call = ReadFile.safeParse(input)
    return call.success ? await readFile(files, call.data) : wrongArguments(tool, call.error)
  }
  if (tool === 'list') {
    const call = List.safeParse(input)
    return call.success ? list(files, call.data) : wrongArguments(tool, call.error)
  }
  if (tool === 'grep') {
    const call = Grep.safeParse(input)
    return call.success ? await grep(files, call.data) : wrongArguments(tool, call.error)
  }
  return `There is no tool ${excerpt(tool)}. There are read_file, list, grep and submit_verdict.`
}

async function readFile(files: Files, { path, from, lines }: z.infer<typeof ReadFile>): Promise<string> {
  const opened = await open(files, path)
  if ('why' in opened) return opened.why
  const all = opened.text.split('\n')
  const first = from ?? 1
  const wanted = all.slice(first - 1, first - 1 + (lines ?? defaultLines))
  const shown: string[] = []
  let room = most.answer
  for (const [index, line] of wanted.entries()) {
    const numbered = `${first + index}\t${line.length > room ? `${line.slice(0, room)}[${line.length - room} more characters]` : line}`
    shown.push(numbered)
    room -= numbered.length
    if (room <= 0) break
  }
  const last = first + shown.length - 1
  const where = shown.length === 0 ? `has ${all.length} lines, none from ${first} on` : `lines ${first} to ${last} of ${all.length}`
  return `${where}\n${fenced(files.nonce, `FILE ${path}`, shown.join('\n'))}`
}

function list(files: Files, filter: z.infer<typeof List>): string {
  const chosen = choose(files, filter)
  if ('why' in chosen) return chosen.why
  const shown: string[] = []
  let room = most.answer
  for (const path of chosen.paths.slice(0, most.listed)) {
    const line = `${path}\t${files.sizes.get(path)}`
    if (line.length > room) break
    shown.push(line)
    room -= line.length + 1
  }
  const left = chosen.paths.length - shown.length
  const told = `${chosen.paths.length} files${left > 0 ? `; the last ${left} are not shown, narrow it down with prefix or glob` : ''}`
  return `${told} (path, bytes)\n${fenced(files.nonce, 'LIST', shown.join('\n'))}`
}

async function grep(files: Files, { pattern, ...filter }: z.infer<typeof Grep>): Promise<string> {
  const compiled = compilePattern(pattern)
  if ('why' in compiled) return compiled.why
  const chosen = choose(files, filter)
  if ('why' in chosen) return chosen.why
  const hits: string[] = []
  const notSearched: string[] = []
  let room = most.answer
  let steps = mostSteps
  for (const path of chosen.paths) {
    const cost = ((files.sizes.get(path) ?? 0) + 1) * compiled.cost
    const opened = cost > steps || room <= 0 || hits.length >= most.found ? { why: '' } : await open(files, path)
    if ('why' in opened) {
      notSearched.push(path)
      continue
    }
    steps -= cost
    for (const hit of matchingLines(path, opened.text, compiled.finds)) {
      if (hits.length >= most.found || hit.length > room) {
        room = 0
        break
      }
      hits.push(hit)
      room -= hit.length + 1
    }
  }
  const missed = notSearched.length > 0 ? `; ${notSearched.length} files not searched (no text, too large, or enough found)` : ''
  const more = room <= 0 || hits.length >= most.found ? '; there may be more, narrow it down' : ''
  return `${hits.length} lines found${more}${missed}\n${fenced(files.nonce, 'GREP', hits.join('\n'))}`
}

function* matchingLines(path: string, text: string, finds: (line: string) => boolean): Generator<string> {
  let number = 0
  for (const line of text.split('\n')) {
    number += 1
    if (finds(line)) yield `${path}:${number}: ${line.length > most.shownLine ? `${line.slice(0, most.shownLine)}…` : line}`
  }
}

function choose({ sizes }: Files, { prefix, glob }: z.infer<typeof List>): { paths: string[] } | { why: string } {
  const pattern: Pattern | undefined = glob == null ? undefined : compileGlob(glob)
  if (pattern !== undefined && 'why' in pattern) return pattern
  return { paths: [...sizes.keys()].filter((path) => path.startsWith(prefix ?? '') && (pattern?.finds(path) ?? true)) }
}

/** The text of a file of the snapshot, asked for by the very path that the snapshot lists. */
async function open({ reader, sizes }: Files, path: string): Promise<{ text: string } | { why: string }> {
  const size = sizes.get(path)
  if (size === undefined) return { why: `There is no file ${excerpt(path)} in the work. Use list to see what there is.` }
  if (size > most.file) return { why: `${excerpt(path)} has ${size} bytes; files of more than ${most.file} are not opened.` }
  const bytes = await reader.read(path)
  if (bytes === undefined) return { why: `There is no file ${excerpt(path)} in the work.` }
  if (bytes.subarray(0, 8_000).includes(0)) return { why: `${excerpt(path)} is no text; it has ${size} bytes.` }
  return { text: Buffer.from(bytes).toString('utf8') }
}

function wrongArguments(tool: string, error: z.ZodError): string {
  const first = error.issues[0]
  return `The arguments of ${tool} are wrong: ${excerpt(`${first?.path.join('.') ?? ''} ${first?.message ?? ''}`)}`
}

function object(properties: Record<string, unknown>, required: string[]): Record<string, unknown> {
  return { type: 'object', properties, required, additionalProperties: false }
}

function text(description: string): unknown {
  return { type: 'string', description }
}

function count(description: string): unknown {
  return { type: 'integer', minimum: 1, description }
}
