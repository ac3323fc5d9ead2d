import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findChrome } from './find-chrome.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-chrome-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string): string {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '\x7fELF')
  chmodSync(file, 0o755)
  return file
}
const nowhere = { env: { PATH: '' }, places: [] }

it('takes what the configuration names, then the variable, then PATH, then the usual places', () => {
  const [first, second, third, fourth] = [program('named'), program('variable'), program('bin/chromium'), program('place/chrome')]
  const env = { ASSAY_CHROME: second, PATH: join(folder, 'bin') }
  expect(findChrome({ chrome: first, env, places: [fourth] })).toEqual({ program: first })
  expect(findChrome({ env, places: [fourth] })).toEqual({ program: second })
  expect(findChrome({ env: { ...env, ASSAY_CHROME: '' }, places: [fourth], platform: 'linux' })).toEqual({ program: third })
  expect(findChrome({ ...nowhere, places: [join(folder, 'absent'), fourth] })).toEqual({ program: fourth })
})

it('takes no other browser than the one that is named', () => {
  const places = [program('place/chrome')]
  const absent = join(folder, 'absent')
  expect(findChrome({ chrome: absent, env: { PATH: '' }, places })).toEqual({
    why: expect.stringMatching(/absent does not exist; install/),
  })
  expect(findChrome({ env: { PATH: '', ASSAY_CHROME: absent }, places })).toEqual({ why: expect.stringContaining('absent does not exist') })
})

it('says how to get one where there is none', () => {
  expect(findChrome(nowhere)).toEqual({
    why: expect.stringMatching(/no Chromium is installed.*apt install chromium.*`chrome:`.*ASSAY_CHROME/),
  })
})

it.each<[NodeJS.Platform, Record<string, string>]>([
  ['win32', { PROGRAMFILES: '/no-such-place' }],
  ['darwin', {}],
])('looks where programs are on %s', (platform, env) => {
  expect(findChrome({ platform, env: { PATH: '', ...env }, places: [program('app/chrome')] })).toHaveProperty('program')
})
