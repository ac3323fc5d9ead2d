import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rooms, testsMay } from './rooms.ts'

const repository = join(import.meta.dirname, '..')
const biome = join(repository, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
const importRule = 'lint/style/noRestrictedImports'

interface Finding {
  category: string
  message: string
  file: string
  line: number
}

let tree: string
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), text)
}

/** Runs the repository's own lint configuration over the files put into the tree. */
function lint(...paths: string[]): { code: number | null; findings: Finding[] } {
  const result = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none', ...paths], {
    cwd: tree,
    encoding: 'utf8',
  })
  const { diagnostics } = JSON.parse(result.stdout) as {
    diagnostics: { category: string; message: string; location: { path: string; start: { line: number } } }[]
  }
  const findings = diagnostics.map((found) => ({
    category: found.category,
    message: found.message,
    file: found.location.path,
    line: found.location.start.line,
  }))
  return { code: result.status, findings }
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'assay-lint-'))
  cpSync(join(repository, 'biome.json'), join(tree, 'biome.json'))
  mkdirSync(join(tree, 'scripts'))
  for (const plugin of ['pure-core.grit', 'no-swallowing.grit']) cpSync(join(repository, 'scripts', plugin), join(tree, 'scripts', plugin))
})
afterEach(() => rmSync(join(tree, 'src'), { recursive: true, force: true }))
afterAll(() => rmSync(tree, { recursive: true, force: true }))

/** One file at every depth of every room, and every place that a file could reach for. */
const places = [
  ...['contract', 'core', 'ports', 'engine', 'testing'].flatMap((room) => [`${room}/a.ts`, `${room}/noun/a.ts`, `${room}/noun/deep/a.ts`]),
  ...['adapters/sqlite', 'adapters/process', 'doors/cli', 'doors/http'].flatMap((room) => [`${room}/a.ts`, `${room}/noun/a.ts`]),
  'doors/cli/noun/deep/a.ts',
  'main/a.ts',
  'main.ts',
  'index.ts',
]
const targets = [
  ...places.map((place) => place.replace(/a\.ts$/, 'b.ts')),
  'adapters/memory/b.ts',
  'adapters/memory/noun/b.ts',
  'doors/mcp/b.ts',
]

const inside = (path: string, room: string) => path === room || path.startsWith(`${room}/`)

function allowed(from: string, to: string): boolean {
  const room = rooms.find((each) => inside(from, each.name))
  if (!room) throw new Error(`${from} is in no room`)
  const own = room.each ? from.split('/').slice(0, 2).join('/') : room.name
  return [own, ...room.may].some((ground) => inside(to, ground))
}

function specifier(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

describe('biome.json', () => {
  it('says the same as the import table, for every pair of places', () => {
    for (const from of places) put(`src/${from}`, targets.map((to, i) => `import { x${i} } from '${specifier(from, to)}'\n`).join(''))
    const { code, findings } = lint('src')
    expect(code).toBe(1)
    const refused = new Set(findings.filter((found) => found.category === importRule).map((found) => `${found.file}:${found.line}`))
    const different: string[] = []
    for (const from of places) {
      targets.forEach((to, i) => {
        if (from === to) return
        if (refused.has(`src/${from}:${i + 1}`) === allowed(from, to))
          different.push(`${from} → ${to} (table: ${allowed(from, to) ? 'may' : 'may not'})`)
      })
    }
    expect(different).toEqual([])
    expect(refused.size).toBeGreaterThan(200)
  })

  it('lets tests reach for the kit', () => {
    put('src/core/a.test.ts', testsMay.map((room, i) => `import { x${i} } from '../${room}/b.ts'\n`).join(''))
    expect(lint('src/core').findings.filter((found) => found.category === importRule)).toEqual([])
  })

  it.each([
    'Math.random()',
    'Date.now()',
    'new Date()',
    'Date()',
    'process.env.HOME',
    'process.hrtime()',
    'performance.now()',
    'crypto.randomUUID()',
    'setTimeout(run, 1)',
    'setInterval(run, 1)',
    "fetch('http://x')",
    "console.log('x')",
    'await run()',
    'globalThis.Date.now()',
    "globalThis['Date']",
    "Reflect.get(Math, 'random')",
    "Math['random']()",
    "Date['now']()",
  ])('keeps core/ pure: %s', (impurity) => {
    put('src/core/impure.ts', `export async function impure(run: () => Promise<void>) {\n  run\n  return ${impurity}\n}\n`)
    const { code, findings } = lint('src/core/impure.ts')
    expect(code).toBe(1)
    expect(findings.filter((found) => found.category === 'plugin')).toMatchObject([
      { message: expect.stringContaining('core/ is pure'), line: 3 },
    ])
    put('src/engine/impure.ts', `export async function impure(run: () => Promise<void>) {\n  run\n  return ${impurity}\n}\n`)
    expect(lint('src/engine/impure.ts').findings.filter((found) => found.category === 'plugin')).toEqual([])
  })

  it('keeps a date that is given out of suspicion', () => {
    put('src/core/given.ts', 'export const year = (at: string) => new Date(at).getUTCFullYear()\n')
    expect(lint('src/core/given.ts')).toEqual({ code: 0, findings: [] })
  })

  it.each([
    ['lint/correctness/noNodejsModules', 'src/core/node.ts', "export { readFileSync } from 'node:fs'\n"],
    ['lint/suspicious/noFocusedTests', 'src/core/focus.test.ts', "import { it } from 'vitest'\nit.only('x', () => {})\n"],
    ['lint/suspicious/noSkippedTests', 'src/core/skip.test.ts', "import { it } from 'vitest'\nit.skip('x', () => {})\n"],
    ['lint/suspicious/noExplicitAny', 'src/core/any.ts', 'export const f = (x: any) => x\n'],
    [
      'lint/complexity/noExcessiveLinesPerFunction',
      'src/core/long.ts',
      `export function long(x: number) {\n${'  x += 1\n'.repeat(61)}  return x\n}\n`,
    ],
    ['lint/nursery/noFloatingPromises', 'src/engine/floating.ts', 'async function f() {\n  return 1\n}\nexport function g() {\n  f()\n}\n'],
  ])('%s fires', (rule, file, text) => {
    put(file, text)
    const { code, findings } = lint(file)
    expect(code).toBe(1)
    expect(findings.map((found) => found.category)).toContain(rule)
  })

  it.each([
    'try { await run() } catch {}',
    'try { await run() } catch (error) {}',
    'try { await run() } catch { /* nobody knows why */ }',
    'try { await run() } catch {} finally { await run() }',
    'await run().catch(() => {})',
  ])('lets no error be swallowed: %s', (swallowing) => {
    put('src/engine/swallow.ts', `export async function f(run: () => Promise<void>) {\n  ${swallowing}\n}\n`)
    const { code, findings } = lint('src/engine/swallow.ts')
    expect(code).toBe(1)
    expect(findings.map((found) => found.message)).toContain('An error is handled, turned into a value or thrown on, never swallowed.')
  })

  it('finds cycles, those of types too', () => {
    put('src/core/chicken.ts', "import { egg } from './egg.ts'\nexport const chicken = () => egg\n")
    put('src/core/egg.ts', "import type { chicken } from './chicken.ts'\nexport const egg = (x: typeof chicken) => x\n")
    const { code, findings } = lint('src/core')
    expect(code).toBe(1)
    const cycles = findings.filter((found) => found.category === 'lint/suspicious/noImportCycles').map((found) => found.file)
    expect(cycles.sort()).toEqual(['src/core/chicken.ts', 'src/core/egg.ts'])
  })
})
