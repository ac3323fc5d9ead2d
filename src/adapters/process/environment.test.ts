import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildEnv, isNeverPassed, pathOutside } from './environment.ts'

describe('buildEnv', () => {
  it('passes what programs need and what is named, nothing else', () => {
    const from = { PATH: '/bin', HOME: '/home/a', LANG: 'C', OPENAI_API_KEY: 'secret', MINE: '1', UNSET: undefined }
    expect(buildEnv({ pass: ['MINE', 'UNSET', 'ABSENT'], from })).toEqual({ PATH: '/bin', HOME: '/home/a', LANG: 'C', MINE: '1' })
  })

  it('does not pass variables that redirect other programs, even where they are named', () => {
    const from = {
      NODE_OPTIONS: '--require x',
      LD_PRELOAD: 'x.so',
      DYLD_INSERT_LIBRARIES: 'x',
      GIT_DIR: '/x',
      ASSAY_TOKEN: 't',
      NODE_ENV: 'test',
    }
    expect(buildEnv({ pass: Object.keys(from), from })).toEqual({ NODE_ENV: 'test' })
    expect(Object.keys(from).filter(isNeverPassed)).toEqual([
      'NODE_OPTIONS',
      'LD_PRELOAD',
      'DYLD_INSERT_LIBRARIES',
      'GIT_DIR',
      'ASSAY_TOKEN',
    ])
  })

  it('takes the tools of the package that is running out of PATH', () => {
    const from = { PATH: '/p/node_modules/.bin:/usr/bin:/q/node_modules/.bin/:node_modules/.bin:/opt/node_modules/.binary:/bin' }
    expect(buildEnv({ from }).PATH).toBe('/usr/bin:/opt/node_modules/.binary:/bin')
  })

  it('takes entries out of PATH that mean the working folder', () => {
    expect(buildEnv({ from: { PATH: ':./bin:/usr/bin::tools:/bin:.' } }).PATH).toBe('/usr/bin:/bin')
  })

  it('lets what we set win', () => {
    expect(buildEnv({ from: { TMPDIR: '/tmp' }, extra: { TMPDIR: '/private', ASSAY_TASK: 't1' } })).toEqual({
      TMPDIR: '/private',
      ASSAY_TASK: 't1',
    })
  })
})

describe('PATH for programs of our own', () => {
  it('leads nowhere inside the project, from wherever in it they are run', () => {
    const project = mkdtempSync(join(tmpdir(), 'assay-path-'))
    onTestFinished(() => rmSync(project, { recursive: true, force: true }))
    mkdirSync(join(project, 'deep', 'down'), { recursive: true })
    writeFileSync(join(project, 'assay.yaml'), '')
    const path = [join(project, '.venv', 'bin'), '/usr/bin', `${project}-other/bin`, project].join(':')
    for (const folder of [project, join(project, 'deep', 'down')]) expect(pathOutside(path, folder)).toBe(`/usr/bin:${project}-other/bin`)
  })
})
