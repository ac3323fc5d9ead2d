import fc from 'fast-check'
import { expect, it } from 'vitest'
import { changeSource, commitsIn, readChange, sourceWords } from './change.ts'

const commit = fc.stringMatching(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
const text = fc.string({ unit: 'grapheme', minLength: 1 })

it('is read as it was written, whatever it is called and wherever it lies', () => {
  const change = fc.record({ folder: text.map((name) => `/${name}`), range: text, base: commit, head: commit })
  fc.assert(
    fc.property(change, (one) => {
      expect(readChange(changeSource(one))).toEqual(one)
    }),
  )
})

it('names its commits; a path or an address has none', () => {
  const [base, head] = ['a'.repeat(40), 'b'.repeat(40)]
  const source = changeSource({ folder: '/work', range: ':/x=y in /z..HEAD', base, head })
  expect(commitsIn(source)).toBe(`${base}..${head}`)
  expect(sourceWords(source)).toBe(`:/x=y in /z..HEAD (${base}..${head}) in /work`)
  for (const other of ['/reports/report.md', 'https://example.com/', undefined]) expect(commitsIn(other)).toBeUndefined()
  expect(sourceWords('/reports/report.md')).toBe('/reports/report.md')
})
