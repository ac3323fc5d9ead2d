import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { afterEach, describe, expect, it } from 'vitest'
import { checkTree, findCycles, importsOf } from './check-rooms.ts'

const trees: string[] = []
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true })
})

function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'assay-rooms-'))
  trees.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const sound = {
  'src/contract/task.ts':
    "import { createHash } from 'node:crypto'\nimport { z } from 'zod'\nexport const Task = z.string()\nexport const hash = createHash\n",
  'src/core/task/decide.ts': "import { Task } from '../../contract/task.ts'\nexport const decide = Task\n",
  'src/ports/journal.ts': "import type { Task } from '../contract/task.ts'\nexport type Journal = typeof Task\n",
  'src/engine/loop.ts':
    "import { decide } from '../core/task/decide.ts'\nimport type { Journal } from '../ports/journal.ts'\nexport type L = [Journal, typeof decide]\n",
  'src/adapters/process/run.ts': "import { spawn } from 'node:child_process'\nexport const run = spawn\n",
  'src/adapters/sqlite/store.ts':
    "import { run } from '../process/run.ts'\nimport { rows } from './deep/rows.ts'\nexport const store = [run, rows]\n",
  'src/adapters/sqlite/deep/rows.ts': 'export const rows = 1\n',
  'src/adapters/sqlite/store.test.ts': "import { suite } from '../../testing/suite.ts'\nimport { store } from './store.ts'\nsuite(store)\n",
  'src/doors/cli/run.ts': "import type { L } from '../../engine/loop.ts'\nexport type R = L\n",
  'src/testing/suite.ts': "import { store } from '../adapters/sqlite/store.ts'\nexport const suite = (x: unknown) => [x, store]\n",
  'src/main/open.ts': "import '../adapters/sqlite/store.ts'\n",
  'src/main.ts': "export const main = () => import('./doors/cli/run.ts')\nexport const open = () => import('./main/open.ts')\n",
  'src/index.ts': "export { decide } from './core/task/decide.ts'\n",
}

/** The sound tree with some files changed must have exactly one problem, and this is it. */
function onlyProblem(changes: Record<string, string>): string {
  const { problems } = checkTree(tree({ ...sound, ...changes }))
  expect(problems).toHaveLength(1)
  return problems[0] ?? ''
}

describe('the rooms', () => {
  it('lets a sound tree pass and counts what it looked at', () => {
    const report = checkTree(tree(sound))
    expect(report.problems).toEqual([])
    expect(report.sizes).toMatchObject({ files: 12, largest: 4, largestFile: 'contract/task.ts' })
    expect(report.imports).toBe(17)
  })

  it('fails when it saw no files', () => {
    expect(checkTree(tree({})).problems).toEqual(['no source files seen below src/'])
    expect(checkTree(tree({ 'src/README.md': 'nothing to see' })).problems).toEqual(['no source files seen below src/'])
  })

  it('fails when a room of the table exists but no file of it was seen', () => {
    const { 'src/engine/loop.ts': _, 'src/doors/cli/run.ts': __, ...rest } = sound
    const files = { ...rest, 'src/main.ts': 'export {}\n', 'src/engine/notes.md': 'empty' }
    expect(checkTree(tree(files)).problems).toEqual(['src/engine exists, but no file of it was seen'])
  })

  it.each([
    ['contract', 'src/contract/a.ts', '../ports/journal.ts'],
    ['core', 'src/core/a.ts', '../engine/loop.ts'],
    ['core from deep inside', 'src/core/task/a.ts', '../../ports/journal.ts'],
    ['ports', 'src/ports/a.ts', '../core/task/decide.ts'],
    ['engine', 'src/engine/a.ts', '../adapters/process/run.ts'],
    ['an adapter and its sibling', 'src/adapters/memory/a.ts', '../sqlite/store.ts'],
    ['a deep adapter and its sibling', 'src/adapters/memory/deep/a.ts', '../../sqlite/store.ts'],
    ['an adapter and the core', 'src/adapters/memory/a.ts', '../../core/task/decide.ts'],
    ['a door and an adapter', 'src/doors/cli/a.ts', '../../adapters/sqlite/store.ts'],
    ['a door and its sibling', 'src/doors/http/a.ts', '../cli/run.ts'],
    ['testing', 'src/testing/a.ts', '../doors/cli/run.ts'],
    ['the engine and the kit', 'src/engine/a.ts', '../testing/suite.ts'],
    ['a test and a door', 'src/engine/a.test.ts', '../doors/cli/run.ts'],
    ['anybody and main.ts', 'src/doors/cli/a.ts', '../../main.ts'],
    ['anybody and main', 'src/engine/a.ts', '../main/open.ts'],
  ])('refuses a forbidden import: %s', (_, file, specifier) => {
    for (const text of [
      `import { x } from '${specifier}'\n`,
      `import type {\n  x,\n} from '${specifier}'\n`,
      `export * from "${specifier}"\n`,
      `import '${specifier}'\n`,
      `export const lazy = () => import('${specifier}')\n`,
    ]) {
      expect(onlyProblem({ [file]: text })).toContain(`${file}: import of '${specifier}'`)
    }
  })

  it.each([
    ['core', 'node:fs'],
    ['core', 'node:crypto'],
    ['ports', 'node:fs'],
    ['contract', 'node:fs'],
  ])('keeps %s away from %s', (room, module) => {
    expect(onlyProblem({ [`src/${room}/a.ts`]: `import * as x from '${module}'\n` })).toContain('may not use it')
  })

  it('refuses what is in no room, leaves src, names no file or imports a test', () => {
    expect(onlyProblem({ 'src/extra/a.ts': 'export {}\n' })).toContain('is in no room')
    expect(onlyProblem({ 'src/engine/a.ts': "import '../../scripts/x.ts'\n" })).toContain('leaves src/')
    expect(onlyProblem({ 'src/engine/a.ts': "import './loop'\n" })).toContain('names no file')
    expect(onlyProblem({ 'src/engine/a.ts': "import './gone.ts'\n" })).toContain('names no file')
    expect(onlyProblem({ 'src/adapters/sqlite/a.ts': "import './store.test.ts'\n" })).toContain('not for import')
  })

  it('finds cycles, those of types too', () => {
    expect(onlyProblem({ 'src/core/a.ts': "import './b.ts'\n", 'src/core/b.ts': "import type { A } from './a.ts'\n" })).toBe(
      'import cycle: core/a.ts → core/b.ts → core/a.ts',
    )
    expect(findCycles(new Map([['a', ['a']]]))).toEqual([['a', 'a']])
  })

  it('refuses inner barrels and drawers', () => {
    expect(onlyProblem({ 'src/core/index.ts': 'export {}\n' })).toContain('no index.ts but the public one')
    expect(onlyProblem({ 'src/core/utils/a.ts': 'export {}\n' })).toContain('a drawer is not a room')
    expect(onlyProblem({ 'src/core/types.ts': 'export {}\n' })).toContain('a drawer is not a room')
  })

  it('refuses module mocks and idle tests, wherever they are', () => {
    for (const call of ['mock', 'doMock'])
      expect(onlyProblem({ 'test/a.test.ts': `vi.${call}('x')\n` })).toBe('test/a.test.ts mocks a module')
    expect(onlyProblem({ 'src/core/a.test.ts': 'it.skip("x", () => {})\n' })).toContain('.only, .skip or .todo')
  })
})

describe('the budgets', () => {
  const lines = (count: number) => '// x\n'.repeat(count)

  it('allows 400 lines and no more, in tests and scripts as well', () => {
    expect(checkTree(tree({ ...sound, 'scripts/a.ts': lines(400) })).problems).toEqual([])
    expect(onlyProblem({ 'scripts/a.ts': lines(401) })).toBe('scripts/a.ts has 401 lines; the budget is 400')
    expect(onlyProblem({ 'src/core/a.test.ts': lines(401) })).toBe('src/core/a.test.ts has 401 lines; the budget is 400')
  })

  it('holds the median and the 95th percentile of source files', () => {
    const many = (count: number, size: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/core/n${i}/a.ts`, lines(size)]))
    expect(onlyProblem(many(13, 101))).toBe('median file has 101 lines; the budget is 100')
    expect(onlyProblem(many(2, 351))).toBe('95th percentile is 351 lines; the budget is 350')
    expect(checkTree(tree({ ...sound, ...many(9, 350) })).problems).toEqual([])
  })

  it('asks for a folder of more than 12 files to be split', () => {
    const files = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`src/core/sla/a${i}.ts`, 'export {}\n']))
    expect(onlyProblem(files)).toBe('src/core/sla holds 13 source files; split it by noun')
  })
})

describe('reading imports', () => {
  it('reads every form and leaves comments and plain strings alone', () => {
    const text = [
      "// import { a } from './comment.ts'",
      "/** @see import('./doc.ts') */",
      " * import './star.ts'",
      "import a from './a.ts'",
      "import { type B } from './b.ts'",
      "export const text = 'import x'",
      "type C = import('./c.ts').C",
      "const glob = 'src/**/*.ts'",
      'const template = `',
      "import t from './template.ts'",
      "import('./call.ts')`",
      "const pattern = cond ? /[`'\\/]*`/g : x / 2",
      "const odd = text.replace(/`/, '') // it's a `tick`",
      "/* import './block.ts'",
      "import './still.ts' */",
      "await import('./d.ts')",
    ].join('\n')
    expect(importsOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts'])
  })

  it('reads what a parser reads, in every file of the repository', () => {
    const repository = join(import.meta.dirname, '..')
    const files = globSync('{src,test,bench}/**/*.ts', { cwd: repository })
    expect(files.length).toBeGreaterThan(50)
    for (const file of files) {
      const text = readFileSync(join(repository, file), 'utf8')
      const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module
      const parsed = [
        ...staticImports.map((found) => found.moduleRequest.value),
        ...staticExports.flatMap((found) => found.entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
        ...dynamicImports.map((found) => text.slice(found.moduleRequest.start + 1, found.moduleRequest.end - 1)),
      ]
      const read = importsOf(text)
      expect({ file, missed: parsed.filter((specifier) => /^[\w@.:/-]+$/.test(specifier) && !read.includes(specifier)) }).toEqual({
        file,
        missed: [],
      })
    }
  })
})
