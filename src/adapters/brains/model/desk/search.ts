import { lstat, readdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { excerpt } from '../../../../contract/source/shown.ts'
import { compileGlob, compilePattern, type Pattern } from '../tools/pattern.ts'
import { textIn } from './files.ts'
import { type Grounds, isKept, openFolder, type OpenFolder, type Refusal, stepsOf } from './inside.ts'

/** Most entries looked at in one search, folders inside folders, lines of an answer, characters of an answer and of a line, and steps of a pattern. */
const most = { entries: 20_000, depth: 40, lines: 500, answer: 24_000, line: 300, steps: 20_000_000 }
/** Passed by unless they are asked for by name: nobody's work, and very large. */
const skipped = ['.git', 'node_modules']

export interface Filter {
  path: string
  glob: string | undefined
}

interface Found {
  path: string
  name: string
  folder: OpenFolder
  isFile: boolean
}

/** Files below a folder with their sizes, one a line. */
export async function listFiles(grounds: Grounds, filter: Filter): Promise<{ text: string } | Refusal> {
  const lines = new Lines()
  const walked = await eachEntry(grounds, filter, async ({ path, name, folder, isFile }) => {
    const size = isFile ? (await lstat(folder.at(name))).size : 'not a plain file'
    return lines.add(`${path}\t${size}`)
  })
  if ('why' in walked) return walked
  return { text: lines.text(`files${walked.note}`) }
}

/** Lines that match a pattern whose time grows with the text alone. */
export async function grepFiles(grounds: Grounds, source: string, filter: Filter): Promise<{ text: string } | Refusal> {
  const pattern = compilePattern(source)
  if ('why' in pattern) return pattern
  const lines = new Lines()
  let steps = most.steps
  let notSearched = 0
  const walked = await eachEntry(grounds, filter, async ({ path, name, folder, isFile }) => {
    // Files are read on the spot; between two of them others have their turn.
    await nextTurn()
    const file = isFile && steps > 0 ? textIn(folder, name, path) : { why: '' }
    if ('why' in file || file.text.length * pattern.cost > steps) {
      notSearched += 1
      return true
    }
    steps -= file.text.length * pattern.cost
    for (const [index, line] of file.text.split('\n').entries()) {
      if (pattern.finds(line) && !lines.add(`${path}:${index + 1}: ${line}`)) return false
    }
    return true
  })
  if ('why' in walked) return walked
  const missed = notSearched > 0 ? `; ${notSearched} files not searched (no text, or too large)` : ''
  return { text: lines.text(`lines found${missed}${walked.note}`) }
}

/** Calls `look` for every file that the filter lets through, until it says no. */
async function eachEntry(
  grounds: Grounds,
  { path, glob }: Filter,
  look: (found: Found) => Promise<boolean>,
): Promise<{ note: string } | Refusal> {
  const steps = stepsOf(path)
  if ('why' in steps) return steps
  const pattern: Pattern | undefined = glob === undefined ? undefined : compileGlob(glob)
  if (pattern !== undefined && 'why' in pattern) return pattern
  if (isKept(grounds, steps, grounds.hidden)) return { why: `${excerpt(path)} may not be touched.` }
  const folder = openFolder(grounds, steps)
  if ('why' in folder) return folder
  const budget = { left: most.entries, passedBy: 0 }
  try {
    await walk(grounds, folder, steps, budget, async (found) => !(pattern?.finds(found.path) ?? true) || (await look(found)))
  } finally {
    folder.close()
  }
  const passedBy = budget.passedBy > 0 ? `; ${skipped.join(' and ')} are passed by, name them in path to see them` : ''
  return { note: `${passedBy}${budget.left <= 0 ? `; only the first ${most.entries} entries were looked at, narrow it down` : ''}` }
}

async function walk(
  grounds: Grounds,
  folder: OpenFolder,
  steps: readonly string[],
  budget: { left: number; passedBy: number },
  look: (found: Found) => Promise<boolean>,
): Promise<boolean> {
  const entries = (await readdir(folder.at('.'), { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    budget.left -= 1
    if (budget.left <= 0) return false
    const place = [...steps, entry.name]
    if (!entry.isDirectory()) {
      const found = { path: place.join('/'), name: entry.name, folder, isFile: entry.isFile() }
      if (!(await look(found))) return false
      continue
    }
    if (skipped.includes(entry.name)) budget.passedBy += 1
    if (skipped.includes(entry.name) || place.length > most.depth || isKept(grounds, place, grounds.hidden)) continue
    const inner = folder.enter(entry.name)
    if ('why' in inner) continue
    try {
      if (!(await walk(grounds, inner, place, budget, look))) return false
    } finally {
      inner.close()
    }
  }
  return true
}

/** Lines of an answer, as many as fit. */
class Lines {
  readonly #lines: string[] = []
  #room = most.answer
  #full = false

  /** False where there is no room for more. */
  add(line: string): boolean {
    const shown = line.length > most.line ? `${line.slice(0, most.line)}…` : line
    this.#full = this.#lines.length >= most.lines || shown.length > this.#room
    if (this.#full) return false
    this.#lines.push(shown)
    this.#room -= shown.length + 1
    return true
  }

  text(what: string): string {
    const more = this.#full ? ' (there are more: narrow it down)' : ''
    return [`${this.#lines.length} ${what}${more}`, ...this.#lines].join('\n')
  }
}
