import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { budget, drawers, type Room, rooms, testsMay } from './rooms.ts'

export interface Report {
  problems: string[]
  sizes: { files: number; median: number; p95: number; largest: number; largestFile: string }
  imports: number
}

interface Source {
  /** Path below `src/`, with forward slashes. */
  path: string
  text: string
  lines: number
  imports: string[]
}

const isTest = (path: string) => path.endsWith('.test.ts')
const lineCount = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

// Comments, templates and regular expressions, which may hold anything; strings are matched too, so that what they hold starts none of these.
const noise =
  /\/\/.*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^\\`])*`|(['"])(?:\\.|(?!\1)[^\\\n])*\1|(?<=[=(,:!&|?[{};>]\s*|\breturn\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g

/** Specifiers of static, type, re-exporting and dynamic imports. */
export function importsOf(text: string): string[] {
  const code = text.replace(noise, (match, quote) => (quote ? match : ' '))
  const statements = code.matchAll(/^\s*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"\n]+)['"]/gm)
  const calls = code.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g)
  return [...statements, ...calls].map((match) => match[1] ?? '')
}

function readTree(root: string, folder: string): Source[] {
  const base = join(root, folder)
  const files = globSync('**/*.{ts,tsx,mts,js,mjs}', { cwd: base, exclude: (name) => name === 'node_modules' })
  return files
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(base, path), 'utf8')
      return { path, text, lines: lineCount(text), imports: importsOf(text) }
    })
}

const resolve = (from: string, specifier: string) => posix.join(posix.dirname(from), specifier)
const inside = (path: string, room: string) => path === room || path.startsWith(`${room}/`)
const roomOf = (path: string): Room | undefined => rooms.find((room) => inside(path, room.name))

/** Own ground of a file: its room, or the folder below it where each folder is a room. */
function groundOf(path: string, room: Room): string {
  return room.each ? path.split('/').slice(0, 2).join('/') : room.name
}

function checkImport(source: Source, specifier: string, room: Room, known: Set<string>): string | undefined {
  const at = `src/${source.path}: import of '${specifier}'`
  if (specifier.startsWith('node:')) {
    const refused = room.node && !isTest(source.path) && !room.node.includes(specifier)
    return refused ? `${at}: ${room.name}/ may not use it` : undefined
  }
  if (!specifier.startsWith('.')) return undefined
  const target = resolve(source.path, specifier)
  if (target.startsWith('..')) return isTest(source.path) ? undefined : `${at} leaves src/`
  if (/\.[mc]?[jt]sx?$/.test(target) ? !known.has(target) : !/\.\w+$/.test(target)) return `${at} names no file`
  if (isTest(target)) return `${at}: a test is not for import`
  const may = isTest(source.path) ? testsMay : room.may
  const allowed = [groundOf(source.path, room), ...may].some((ground) => inside(target, ground))
  return allowed ? undefined : `${at}: ${groundOf(source.path, room)} may import ${may.join(', ') || 'nothing of ours'}`
}

/** Each cycle once, as the files it goes through. Type imports count: a cycle of words is a cycle. */
export function findCycles(edges: Map<string, string[]>): string[][] {
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (file: string, trail: string[]) => {
    const start = trail.indexOf(file)
    if (start >= 0) cycles.push([...trail.slice(start), file])
    if (start >= 0 || done.has(file)) return
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return cycles
}

function checkRooms(root: string, sources: Source[]): string[] {
  const problems: string[] = []
  const known = new Set(sources.map((source) => source.path))
  for (const room of rooms) {
    const seen = sources.some((source) => inside(source.path, room.name))
    if (!seen && existsSync(join(root, 'src', room.name))) problems.push(`src/${room.name} exists, but no file of it was seen`)
  }
  for (const source of sources) {
    const room = roomOf(source.path)
    if (!room) problems.push(`src/${source.path} is in no room of the table`)
    else problems.push(...source.imports.flatMap((specifier) => checkImport(source, specifier, room, known) ?? []))
    if (source.path.endsWith('/index.ts')) problems.push(`src/${source.path}: no index.ts but the public one`)
    if (drawers.test(source.path)) problems.push(`src/${source.path}: a drawer is not a room; name it for what it holds`)
  }
  const edges = new Map(
    sources.map(({ path, imports }) => [path, imports.filter((name) => name.startsWith('.')).map((name) => resolve(path, name))]),
  )
  return [...problems, ...findCycles(edges).map((cycle) => `import cycle: ${cycle.join(' → ')}`)]
}

function checkSizes(sources: Source[]): Pick<Report, 'sizes' | 'problems'> {
  const sorted = sources.filter((source) => !isTest(source.path)).sort((a, b) => a.lines - b.lines)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]?.lines ?? 0
  const last = sorted.at(-1)
  const sizes = { files: sorted.length, median: at(0.5), p95: at(0.95), largest: last?.lines ?? 0, largestFile: last?.path ?? '' }
  const problems: string[] = []
  if (sizes.median > budget.median) problems.push(`median file has ${sizes.median} lines; the budget is ${budget.median}`)
  if (sizes.p95 > budget.p95) problems.push(`95th percentile is ${sizes.p95} lines; the budget is ${budget.p95}`)
  for (const [folder, files] of Map.groupBy(sorted, (source) => dirname(source.path))) {
    if (files.length > budget.filesInFolder) problems.push(`src/${folder} holds ${files.length} source files; split it by noun`)
  }
  return { sizes, problems }
}

const lengthProblem = ({ path, lines }: Source) =>
  lines > budget.largest ? [`${path} has ${lines} lines; the budget is ${budget.largest}`] : []

function testProblems({ path, text }: Source): string[] {
  const problems: string[] = []
  if (isTest(path) && /\bvi\.(do)?mock\(/i.test(text)) problems.push(`${path} mocks a module`)
  if (isTest(path) && /^\s*(it|test|describe)\.(only|skip|todo)\b/m.test(text)) problems.push(`${path} has .only, .skip or .todo`)
  return problems
}

/** Checks the tree below `root`. An empty tree is a problem: a check that looked at nothing must fail. */
export function checkTree(root: string): Report {
  const sources = readTree(root, 'src')
  const { sizes, problems } = checkSizes(sources)
  if (sources.length === 0) return { problems: ['no source files seen below src/'], sizes, imports: 0 }
  const all = ['src', 'test', 'scripts', 'bench', 'bin'].flatMap((folder) =>
    readTree(root, folder).map((source) => ({ ...source, path: `${folder}/${source.path}` })),
  )
  const imports = sources.reduce((sum, source) => sum + source.imports.length, 0)
  return {
    problems: [...checkRooms(root, sources), ...problems, ...all.flatMap(lengthProblem), ...all.flatMap(testProblems)],
    sizes,
    imports,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { problems, sizes, imports } = checkTree(process.argv[2] ?? join(import.meta.dirname, '..'))
  console.log(`rooms: ${sizes.files} source files, ${imports} imports`)
  console.log(`lines: median ${sizes.median}, 95th percentile ${sizes.p95}, largest ${sizes.largest} (${sizes.largestFile})`)
  for (const problem of problems) console.error(`✖ ${problem}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
