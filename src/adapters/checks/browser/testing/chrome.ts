import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { findChrome } from '../find-chrome.ts'

/** A Chromium for tests: the one that is named, or the one that the development dependencies bring along, the same on every machine, or else an installed one. */
export function chromeForTests(): string | undefined {
  if (process.env.ASSAY_CHROME === undefined && process.platform === 'linux' && process.arch === 'x64') return unpacked()
  const installed = findChrome()
  if ('program' in installed) return installed.program
  console.warn('pages are not tested in a browser: no Chromium is installed; install one, or name it in ASSAY_CHROME')
  return undefined
}

/** Unpacks it once for all test files, beside other caches of development; whoever is first keeps its folder. */
function unpacked(): string {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('@sparticuz/chromium')
  const modules = entry.slice(0, entry.lastIndexOf('node_modules') + 'node_modules'.length)
  const { version } = JSON.parse(readFileSync(join(modules, '@sparticuz', 'chromium', 'package.json'), 'utf8')) as { version: string }
  const folder = join(modules, '.cache', `assay-chromium-${version}`)
  const program = join(folder, 'chrome')
  if (existsSync(program)) return program
  mkdirSync(join(modules, '.cache'), { recursive: true })
  const fresh = mkdtempSync(`${folder}-`)
  // It unpacks into the folder for temporary files, whichever that is, and shows only there which libraries and fonts come with it.
  const unpack = 'const { default: it, inflate } = await import(process.argv[1]); await it.executablePath(); await inflate(process.argv[2])'
  const libraries = join(modules, '@sparticuz', 'chromium', 'bin', 'al2023.tar.br')
  const env = { ...process.env, TMPDIR: fresh }
  execFileSync(process.execPath, ['--input-type=module', '-e', unpack, '--', entry, libraries], { env, stdio: 'ignore' })
  writeFileSync(join(fresh, 'chrome'), wrapper(folder), { mode: 0o755 })
  // Whoever may read the packages may run it.
  for (const place of [fresh, join(fresh, 'chromium')]) chmodSync(place, 0o755)
  try {
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (!existsSync(program)) throw error
  }
  return program
}

/** Its own libraries come last: those of the system are taken where they are there. */
function wrapper(folder: string): string {
  const libraries = `LD_LIBRARY_PATH="/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:${folder}/al2023/lib"`
  const fonts = `[ -d /usr/share/fonts ] || export FONTCONFIG_PATH="${folder}/fonts"`
  return `#!/bin/sh\n${fonts}\n${libraries} exec "${folder}/chromium" "$@"\n`
}
