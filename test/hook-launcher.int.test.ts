import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Makes the Node at hand look like one without SQLite. */
const pretendOld = "Object.defineProperty(process, 'versions', { value: { ...process.versions, sqlite: undefined } })\n"

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'assay-hook-launcher-'))
  cpSync(join(import.meta.dirname, '..', 'bin'), join(home, 'bin'), { recursive: true })
  mkdirSync(join(home, 'cli'))
  writeFileSync(join(home, 'cli', 'main.js'), "throw new Error('half installed')\n")
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(home, 'old.cjs'), pretendOld)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function launch(args: readonly string[], flags: readonly string[]) {
  const input = JSON.stringify({ hook_event_name: 'Stop', padding: 'x'.repeat(1_000_000) })
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(home, 'bin', 'assay.mjs'), ...args], {
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe.each([
  ['without a Node that is new enough', () => ['-r', join(home, 'old.cjs')], 'needs Node'],
  ['half installed', () => [], 'half installed'],
])('the launcher of a hook, %s', (_, flags, reason) => {
  it.each([['claude'], ['codex'], ['gemini'], ['bogus']])('lets %s go, and says why', (agent) => {
    for (const named of [['--agent', agent], [`--agent=${agent}`]]) {
      const { status, stdout, stderr } = launch(['hook', ...named], flags())
      expect(status, stderr).toBe(0)
      expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringMatching(new RegExp(`^Assay: UNREVIEWED: .*${reason}`)) })
      expect(stderr).toContain(reason)
    }
  })

  it.each([['copilot'], ['cursor']])('lets %s go, which passes nothing on', (agent) => {
    const { status, stdout, stderr } = launch(['hook', '--agent', agent], flags())
    expect({ status, stdout: stdout.trim() }).toEqual({ status: 0, stdout: '{}' })
    expect(stderr).toContain(reason)
  })

  it('lets go whoever is not named', () => {
    for (const args of [['hook'], ['hook', '--agent'], ['hook', '--agent=']]) {
      const { status, stdout } = launch(args, flags())
      expect(status, args.join(' ')).toBe(0)
      expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringContaining('UNREVIEWED') })
    }
  })

  it('refuses everything else as before', () => {
    for (const args of [
      ['hook', 'install', '--agent', 'claude'],
      ['hook', '--agent', 'claude', 'remove'],
      ['run', 'hook'],
    ]) {
      const { status, stdout } = launch(args, flags())
      expect(status, args.join(' ')).not.toBe(0)
      expect(stdout).toBe('')
    }
  })
})
