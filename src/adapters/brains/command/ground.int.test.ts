import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { plainGround } from './ground.ts'

it('takes words for files of the configuration only where they can name one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-ground-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'setup.mjs'), '')
  const script = `console.log('${'x'.repeat(5000)}')`
  const words = ['-e', script, 'setup.mjs', '--import=./setup.mjs', 'setup.mjs/deeper', 'absent.mjs']
  const own = join(folder, 'setup.mjs')
  expect(plainGround(['node', ...words], folder).argv).toEqual([
    'node',
    '-e',
    script,
    own,
    `--import=${own}`,
    'setup.mjs/deeper',
    'absent.mjs',
  ])
})
