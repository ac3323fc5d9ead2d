import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findOldNode } from './front-door/old-node.ts'

const repository = join(import.meta.dirname, '..')
const quiet = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' }

const oldNode = findOldNode()
if (oldNode === undefined) console.warn('skipped: importing on an old Node. Install a Node below 22 as `node` in PATH (https://nodejs.org)')

let home: string
let installed: string
const node = (args: string[], cwd = home) => spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })

interface Manifest {
  version: string
  engines: Record<string, string>
  dependencies: Record<string, string>
  [key: string]: unknown
}
const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** Builds, packs and unpacks into a project of its own. Dependencies are linked, so that no network is needed. */
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'assay-package-'))
  const built = node([join(repository, 'scripts', 'build.ts'), '--out', join(home, 'dist')], repository)
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', home], {
    cwd: join(home, 'dist'),
    env: quiet,
    shell: process.platform === 'win32',
  })
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz')) ?? 'no tarball'
  installed = join(home, 'node_modules', 'assay')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(home, tarball), '--strip-components=1', '-C', installed])
  for (const name of Object.keys(readManifest(installed).dependencies)) {
    mkdirSync(dirname(join(home, 'node_modules', name)), { recursive: true })
    symlinkSync(join(repository, 'node_modules', name), join(home, 'node_modules', name), 'dir')
  }
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the published package', () => {
  it('has a manifest of its own: exact dependencies, no Node brought along, nothing to run on install', () => {
    const manifest = readManifest(installed)
    const ours = readManifest(repository)
    expect(manifest.version).toBe(ours.version)
    expect(manifest.dependencies).toEqual(ours.dependencies)
    expect(manifest.engines).toEqual({ node: '^22.23 || >=24.15' })
    for (const key of ['optionalDependencies', 'devDependencies', 'scripts', 'private', 'overrides'])
      expect(manifest).not.toHaveProperty(key)
  })

  it('holds JavaScript and declarations only, and no test', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const names = files.map((entry) => entry.name)
    expect(names).toEqual(expect.arrayContaining(['assay.mjs', 'main.js', 'index.js', 'index.d.ts', 'LICENSE', 'README.md']))
    const code = files.filter((entry) => !/[\\/](integrations|\.claude-plugin)([\\/]|$)/.test(entry.parentPath)).map((entry) => entry.name)
    expect(code.filter((name) => !/\.(js|mjs|d\.ts)$|^(package\.json|LICENSE|README\.md)$/.test(name))).toEqual([])
    expect(names.filter((name) => name.includes('.test.'))).toEqual([])
  })

  it('holds the plugin for Claude Code whole, where its marketplace says that it is', () => {
    const listed = (folder: string) => readdirSync(join(folder, 'integrations'), { recursive: true, encoding: 'utf8' }).sort()
    expect(listed(installed)).toEqual(listed(repository))
    const market = JSON.parse(readFileSync(join(installed, '.claude-plugin', 'marketplace.json'), 'utf8')) as {
      plugins: { source: string }[]
    }
    expect(market.plugins).not.toEqual([])
    for (const { source } of market.plugins)
      expect(JSON.parse(readFileSync(join(installed, source, '.claude-plugin', 'plugin.json'), 'utf8'))).toHaveProperty('name')
  })

  it.skipIf(oldNode === undefined)('names the Node that it needs, where it is imported on an old one', () => {
    writeFileSync(join(home, 'old.mjs'), "await import('assay').catch(({ message }) => console.log(message))\n")
    const { stdout } = spawnSync(oldNode ?? '', ['old.mjs'], { cwd: home, encoding: 'utf8' })
    expect(stdout).toMatch(/^assay needs Node \^22\.23 or >=24\.15; this is v[\d.]+ with SQLite \(none\)\n$/)
  })

  it('runs its command line', () => {
    const { status, stdout, stderr } = node([join(installed, 'bin', 'assay.mjs'), '--help'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('Usage: assay')
  })

  it('exports the library, for programs and for their types', () => {
    writeFileSync(join(home, 'use.mjs'), "import { digestOf } from 'assay'\nconsole.log(digestOf({ b: 1, a: 2 }))\n")
    const run = node(['use.mjs'])
    expect(run.stderr).toBe('')
    expect(run.stdout).toMatch(/^sha256:[0-9a-f]{64}\n$/)

    writeFileSync(join(home, 'use.mts'), "import { digestOf } from 'assay'\nexport const good: string = digestOf(1)\n")
    writeFileSync(join(home, 'misuse.mts'), "import { digestOf } from 'assay'\nexport const bad: number = digestOf(1)\n")
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
    const flags = ['--typeRoots', join(repository, 'node_modules', '@types')]
    flags.push(...'--noEmit --strict --module nodenext --target es2024 --lib es2024 --types node'.split(' '))
    const good = node([tsc, ...flags, 'use.mts'])
    expect(good.stdout).toBe('')
    expect(good.status).toBe(0)
    expect(node([tsc, ...flags, 'misuse.mts']).stdout).toContain('misuse.mts(2,14): error TS2322')
  })

  it('keeps its insides to itself', () => {
    writeFileSync(join(home, 'inside.mjs'), "import 'assay/lib/contract/canonical.js'\n")
    expect(node(['inside.mjs']).stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })
})
