import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addedLines } from './added-lines.ts'
import { placeholderRules } from './placeholder-table.ts'
import { placeholdersIn } from './placeholders.ts'

const found = (line: string, allow: string[] = []) => placeholdersIn('page.html', undefined, line, allow)

describe('placeholders', () => {
  it.each(placeholderRules.flatMap(({ pattern, finds }) => finds.map((line) => [line, pattern] as const)))(
    'are found: %s',
    (line, pattern) => {
      expect(line.match(pattern)).not.toBe(null)
      expect(found(line)).not.toEqual([])
    },
  )

  it.each(placeholderRules.flatMap(({ leaves }) => leaves))('are not found where there are none: %s', (line) => {
    expect(found(line)).toEqual([])
  })

  it.each([
    '<button class="cta">Write us a message here</button>',
    'Click here to read more',
    '<textarea placeholder="Your message"></textarea>',
    "const placeholder = t('search')",
    'The hackers of XXVII came soon after.',
    'export interface Todo { id: string; done: boolean }',
    'const total = todos.filter((todo) => !todo.done).length',
    "app.get('/todos/:id', handler)",
    'return [first, ...rest]',
    'const style = { a: { b: 1 } }',
    'Insert a coin and press start',
    'a_b__c--d/**/',
    '',
  ])('leave ordinary lines alone: %s', (line) => {
    expect(found(line)).toEqual([])
  })

  it('say where and what, and what is around it', () => {
    expect(placeholdersIn('a.ts', 'one\ntwo', 'one\n// TODO: x\ntwo', [])).toEqual(['a.ts:2: unfinished marker: "TODO" in "// TODO: x"'])
  })

  it('fields in double braces are for files that people read', () => {
    expect(placeholdersIn('a.vue', undefined, '<p>{{ name }}</p>', [])).toEqual([])
    expect(placeholdersIn('A.HTML', undefined, '<p>{{ name }}</p>', [])).toHaveLength(1)
  })

  it('allowed texts are none, and hide no other', () => {
    expect(found('see TODO.md', ['TODO.md'])).toEqual([])
    expect(found('see TODO.md, TODO finish', ['TODO.md'])).toHaveLength(1)
    expect(found('TODO', ['todo'])).toHaveLength(1)
    expect(found('Coming soon: $& TODO', ['$&', 'TODO', 'Coming soon'])).toEqual([])
  })

  it('long lines take time in proportion to their length', () => {
    const pieces = [
      'your ',
      'insert a ',
      '[insert ',
      '{{a ',
      '[your name ',
      '<your-name ',
      '// ',
      'to be ',
      'placeholder ',
      'lorem  ',
      '[',
      '{',
      ' ',
      'a',
    ]
    for (const piece of pieces) expect(Array.isArray(found(piece.repeat(1_000_000 / piece.length)))).toBe(true)
  })
})

const word = fc.constantFrom<string>('alpha', 'beta', 'TODO', 'FIXME later', 'lorem ipsum', '', '}', 'Coming soon')
const text = fc.array(word, { maxLength: 30 })

describe('added lines', () => {
  it('are what is left when the base is taken away', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom('\n', '\r\n', '\r'), (before, after, end) => {
        const added = addedLines(before.join('\n'), after.join(end))
        const now = after.length === 0 ? [''] : after
        for (const { number, text: line } of added) expect(now[number - 1]).toBe(line)
        const kept = now.filter((_line, index) => !added.some(({ number }) => number === index + 1))
        // Kept lines are lines of the base, in its order.
        let place = 0
        const base = before.length === 0 ? [''] : before
        for (const line of kept) {
          place = base.indexOf(line, place) + 1
          expect(place).toBeGreaterThan(0)
        }
      }),
    )
  })

  it('unchanged lines are never reported, an added placeholder always is', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom<string>('TODO: new', 'dolor sit amet', 'FIXME: new'),
        fc.nat(),
        (before, clean, placeholder, seed) => {
          const harmless = clean.filter((line) => found(line).length === 0)
          const base = before.join('\n')
          expect(placeholdersIn('a.txt', base, base, [])).toEqual([])
          // Clean lines come in anywhere: nothing to report.
          const mixed = [...before]
          for (const [index, line] of harmless.entries()) mixed.splice((seed + index * 7) % (mixed.length + 1), 0, line)
          expect(placeholdersIn('a.txt', base, mixed.join('\n'), [])).toEqual([])
          const at = seed % (mixed.length + 1)
          mixed.splice(at, 0, placeholder)
          expect(placeholdersIn('a.txt', base, mixed.join('\n'), [])).toEqual([expect.stringContaining(`a.txt:${at + 1}: `)])
        },
      ),
    )
  })

  it('of texts too large to compare place by place are counted', () => {
    const base = Array.from({ length: 60_000 }, (_unused, index) => (index % 2 === 0 ? 'TODO' : `line ${index}`))
    expect(placeholdersIn('a.txt', base.join('\n'), [...base].reverse().join('\n'), [])).toEqual([])
    expect(placeholdersIn('a.txt', base.join('\n'), [...base, 'TODO'].join('\n'), [])).toEqual([expect.stringContaining('a.txt:60001:')])
    const different = Array.from({ length: 20_000 }, (_unused, index) => `other ${index}`)
    expect(addedLines(base.slice(0, 20_000).join('\n'), different.join('\n'))).toHaveLength(20_000)
  })
})
