import type { CheckSpec } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { openInside } from '../inside.ts'
import { broken, type CheckResult, failed, judged, passed } from '../result.ts'
import { addedLines } from './added-lines.ts'
import { pathMatcher } from './paths.ts'
import { placeholderRules } from './placeholder-table.ts'
import { decodeText, hasTextName, readBytes } from './read.ts'
import { someFile } from './some-file.ts'

type PlaceholdersSpec = Extract<CheckSpec, { kind: 'placeholders' }>

/** Complaints after which no further file is looked at. */
const enoughComplaints = 1_000

/** Looks for what unfinished work leaves behind, in lines that the worker added. */
export async function checkPlaceholders(
  spec: PlaceholdersSpec,
  context: CheckContext,
  maxFileBytes: number,
  signal: AbortSignal,
): Promise<CheckResult> {
  const isMeant = spec.paths === undefined ? () => true : pathMatcher(spec.paths)
  const complaints: string[] = []
  const notes: string[] = []
  let looked = 0
  for (const path of context.changed.filter(isMeant)) {
    if (signal.aborted) return broken('stopped before all files were looked at')
    const found = await lookAt(path, spec.allow ?? [], context, maxFileBytes)
    if ('why' in found) return broken(`${excerpt(path)}: ${found.why}`)
    if (found.isFile) looked++
    complaints.push(...found.complaints)
    notes.push(...found.notes)
    if (complaints.length >= enoughComplaints) break
  }
  if (looked === 0 && spec.paths !== undefined && !(await someFile(context.folder, isMeant, signal)))
    return failed(`no file of the workspace matches ${excerpt(spec.paths.join(', '))}`)
  return looked === 0 && notes.length === 0 ? passed('nothing was added') : judged('added lines', complaints, notes)
}

/** What was found at a changed path, or why the check cannot go on. */
type Looked = { isFile: boolean; complaints: string[]; notes: string[] } | { why: string }

async function lookAt(path: string, allow: readonly string[], context: CheckContext, maxFileBytes: number): Promise<Looked> {
  const found = await openInside(context.folder, path)
  if (found.kind === 'missing') return { isFile: false, complaints: [], notes: [] }
  if (found.kind !== 'file')
    return { isFile: false, complaints: [], notes: [`${path}: not looked at: ${found.kind === 'folder' ? 'it is a folder' : found.why}`] }
  const read = await readBytes(found, maxFileBytes)
  if ('why' in read) return read
  const text = 'bytes' in read ? decodeText(read.bytes) : undefined
  if (text === undefined) return binary(path)
  const base = await context.baseFile(path)
  return { isFile: true, complaints: placeholdersIn(path, base && decodeText(base), text, allow), notes: [] }
}

/** A file with NULs is no text; one that is called text and has them hides something. */
function binary(path: string): Looked {
  return hasTextName(path)
    ? { isFile: true, complaints: [`${path}: has NUL bytes, which no text has; nobody can look for placeholders in it`], notes: [] }
    : { isFile: true, complaints: [], notes: [`${path}: not looked at: it is binary`] }
}

/** One complaint for each line and name of a rule. */
export function placeholdersIn(path: string, base: string | undefined, now: string, allow: readonly string[]): string[] {
  const rules = placeholderRules.filter(({ files }) => files === undefined || files.some((ending) => path.toLowerCase().endsWith(ending)))
  const complaints: string[] = []
  for (const { number, text } of addedLines(base, now)) {
    const line = withoutAllowed(text, allow)
    const said = new Set<string>()
    for (const { name, pattern } of rules) {
      const match = said.has(name) ? null : pattern.exec(line)
      if (match === null) continue
      said.add(name)
      complaints.push(`${path}:${number}: ${name}: "${excerpt(match[0])}" in "${excerpt(around(text, match))}"`)
      if (complaints.length >= enoughComplaints) return complaints
    }
  }
  return complaints
}

/** The line with every allowed text blotted out; places stay the same. */
function withoutAllowed(line: string, allow: readonly string[]): string {
  return allow.reduce((rest, text) => rest.replaceAll(text, (found) => '\u{fffc}'.repeat(found.length)), line)
}

function around(line: string, match: RegExpExecArray): string {
  return line.slice(Math.max(0, match.index - 20), match.index + 60).trim()
}
