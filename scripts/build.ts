import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleCommandLine } from './bundle.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist') } } })
const out = resolve(values.out)

/** The Nodes whose SQLite keeps every committed write; the launcher looks at the version of SQLite itself. */
const engines = '^22.23 || >=24.15'

interface Manifest {
  name: string
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
}

/** Own manifest of the published package: JavaScript only, no Node brought along, nothing to run on install. */
function writeManifest(): void {
  const { name, version, description, license, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { assay: 'bin/assay.mjs' },
    exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' }, './package.json': './package.json' },
    files: ['bin', 'cli', 'lib', 'integrations', '.claude-plugin'],
    engines: { node: engines },
    dependencies,
  }
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** The library: one JavaScript and one declaration file for each source file that the public API reaches. */
function emitLibrary(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(out, 'lib')]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`tsc ended with ${status}`)
  askForSqlite()
}

/** An import of SQLite fails on a Node without it before any line of ours has run; asked for, it lets the library say which Node it needs. */
function askForSqlite(): void {
  const lib = join(out, 'lib')
  const importing = /^import (\{.*\}) from 'node:sqlite';$/gm
  let found = 0
  for (const name of readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.js'))) {
    const before = readFileSync(join(lib, name), 'utf8')
    const after = before.replace(importing, "const $1 = process.getBuiltinModule('node:sqlite');")
    if (after === before) continue
    found += 1
    writeFileSync(join(lib, name), after)
  }
  if (found === 0) throw new Error('nothing of the library imports node:sqlite any more: this step has no use')
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
emitLibrary()
await bundleCommandLine(join(out, 'cli'))
cpSync(join(root, 'bin'), join(out, 'bin'), { recursive: true })
chmodSync(join(out, 'bin', 'assay.mjs'), 0o755)
for (const part of ['LICENSE', 'README.md', 'integrations', '.claude-plugin'])
  cpSync(join(root, part), join(out, part), { recursive: true })
writeManifest()
console.log(`built ${out}`)
