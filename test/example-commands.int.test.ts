import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const timeout = 180_000

/** The environment of whoever types the command: npm has not put the Node of this repository in front. */
function plainEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|node_options$|vitest)/i.test(name)) as [string, string][]
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules') && !folder.includes('node-gyp'))
  return { ...Object.fromEntries(own), PATH: path.join(delimiter) }
}

describe('commands that the documents name', () => {
  it('run TypeScript with the Node that came along: an older one cannot', () => {
    const documents = ['*.md', 'docs/**/*.md', 'examples/**/*.{md,ts}', 'scripts/**/*.ts', 'bench/**/*.md']
    const texts = globSync(documents, { cwd: root }).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    expect(texts.length).toBeGreaterThan(50)
    const bare = texts.filter(({ text }) => /(?<!npx )\bnode (?:--\S+ )*[\w./-]+\.ts\b/.test(text))
    expect(bare.map(({ path }) => path)).toEqual([])
  })

  it('run the example with a failing test as it is told, whatever Node comes first', { timeout }, async () => {
    const readme = readFileSync(join(root, 'examples/failing-test/README.md'), 'utf8')
    const [, command = ''] = /```sh\n(.+?) +#/.exec(readme) ?? []
    expect(command).toContain('examples/failing-test/run.ts')
    const [program = '', ...words] = command.split(' ')
    const { stdout } = await promisify(execFile)(program, words, { cwd: root, env: plainEnv() })
    expect(stdout).toMatch(/attempt 1 {2}REJECTED .*weak_test/)
    expect(stdout).toMatch(/attempt 2 {2}PASS/)
    expect(stdout).toContain('test/refused.test.mjs')
  })
})
