import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { journalAdapters } from './adapters.ts'

const adaptersFolder = fileURLToPath(new URL('../../adapters/', import.meta.url))

function filesOf(folder: string): { name: string; text: string }[] {
  const names = readdirSync(`${adaptersFolder}/${folder}`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return names.map((name) => ({ name, text: readFileSync(`${adaptersFolder}/${folder}/${name}`, 'utf8') }))
}

const folders = readdirSync(adaptersFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
const implementing = folders
  .map(({ name }) => name)
  .filter((folder) => filesOf(folder).some(({ text }) => /\bimplements Journal\b/.test(text)))

it('sees the adapters that implement the journal', () => {
  expect(implementing).toEqual(expect.arrayContaining(['memory', 'sqlite']))
})

it.each(implementing)('%s runs the journal suite from its own folder, against itself', (folder) => {
  expect(Object.keys(journalAdapters)).toContain(folder)
  const tests = filesOf(folder).filter(({ name }) => name.endsWith('.test.ts'))
  expect(tests.some(({ text }) => text.includes(`journalSuite(journalAdapters.${folder})`))).toBe(true)
})
