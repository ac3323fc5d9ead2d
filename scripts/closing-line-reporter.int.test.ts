import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const repository = join(import.meta.dirname, '..')
let home: string

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'assay-closing-'))
  symlinkSync(join(repository, 'node_modules'), join(home, 'node_modules'), 'dir')
  const put = (name: string, lines: string[]) =>
    writeFileSync(join(home, name), ["import { expect, it } from 'vitest'", ...lines].join('\n'))
  put('good.test.ts', [
    "it('a', () => expect(1).toBe(1))",
    "it('b', () => expect(1).toBe(1))",
    "it.skipIf(true)('c', () => expect(1).toBe(1))",
  ])
  put('bad.test.ts', ["it('a', () => expect(1).toBe(2))", "it('b', () => expect(1).toBe(1))"])
  put('broken.test.ts', ["throw new Error('does not load')"])
  put('luck.test.ts', ['let tries = 0', "it('a', () => expect(tries++).toBe(1))"])
  put('stray.test.ts', ["it('a', () => { Promise.reject(new Error('nobody waits for it')); expect(1).toBe(1) })"])
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function run(...args: string[]) {
  const vitest = join(repository, 'node_modules', 'vitest', 'vitest.mjs')
  const reporters = ['--reporter=default', `--reporter=${join(repository, 'scripts', 'closing-line-reporter.ts')}`]
  const result = spawnSync(process.execPath, [vitest, 'run', '--root', home, ...reporters, ...args], { cwd: home, encoding: 'utf8' })
  const lines = result.stdout.trimEnd().split('\n')
  return { code: result.status, last: lines.at(-1), secondTries: lines.filter((line) => line.includes('second try')) }
}

describe('the last line of a run', () => {
  it('counts tests', () => {
    expect(run('good')).toEqual({ code: 0, last: 'Tests: 2 passed, 0 failed, 1 skipped', secondTries: [] })
    expect(run('good', 'bad')).toMatchObject({ code: 1, last: 'Tests: 3 passed, 1 failed, 1 skipped' })
  })

  it('comes after those that passed at the second try only, by name', () => {
    expect(run('luck')).toMatchObject({ code: 1, last: 'Tests: 0 passed, 1 failed, 0 skipped', secondTries: [] })
    expect(run('luck', 'good', '--retry', '1')).toEqual({
      code: 0,
      last: 'Tests: 3 passed, 0 failed, 1 skipped',
      secondTries: ['Passed at the second try only: luck.test.ts > a'],
    })
  })

  it('counts a file that does not load and an error outside every test as failures', () => {
    expect(run('broken')).toMatchObject({ code: 1, last: 'Tests: 0 passed, 1 failed, 0 skipped' })
    expect(run('stray')).toMatchObject({ code: 1, last: 'Tests: 1 passed, 1 failed, 0 skipped' })
  })
})
