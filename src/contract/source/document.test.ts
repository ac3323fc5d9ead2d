import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readDocument } from './document.ts'
import { formatProblem, type Path } from './problem.ts'

function read(text: string, file = 'a.yaml') {
  const result = readDocument(text, file)
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value
}

function problems(text: string, file = 'a.yaml'): string[] {
  const result = readDocument(text, file)
  return result.ok ? [] : result.error.map(formatProblem)
}

describe('readDocument', () => {
  it('reads YAML and JSON alike', () => {
    const value = { a: 1, b: [true, null, 'x'], c: { d: 1.5 } }
    expect(read('a: 1\nb: [true, null, x]\nc:\n  d: 1.5\n').value).toEqual(value)
    expect(read(JSON.stringify(value, null, '\t'), 'a.json').value).toEqual(value)
    expect(read(JSON.stringify(value), 'a.yaml').value).toEqual(value)
    expect(read('\ufeffa: 1\r\nb: 2\r\n').value).toEqual({ a: 1, b: 2 })
  })

  it('reads back what was written, whatever it is', () => {
    const key = fc.string({ minLength: 1 }).filter((text) => text !== '__proto__')
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, tree, { minKeys: 1, maxKeys: 4, noNullPrototype: true }), (value) => {
        expect(read(JSON.stringify(value), 'a.json').value).toEqual(value)
        expect(read(stringify(value)).value).toEqual(value)
      }),
      { numRuns: 300 },
    )
  })

  it('keeps on, off, yes and no as the texts that they are in YAML 1.2', () => {
    expect(read('a: on\nb: no').value).toEqual({ a: 'on', b: 'no' })
  })

  it.each([
    ['a: 1\nb: [1, 2\nc: 3\n', 'a.yaml:3:1: '],
    ['a: 1\n  b: 2\n', 'a.yaml:1:4: a mapping begins inside a plain value'],
    ['a: b: c\n', 'a.yaml:1:4: a mapping begins inside a plain value'],
    ['a:\n\t- 1\n', 'a.yaml:2:1: a tab is used to indent (indent with spaces)'],
    ['a: 1\n---\nb: 2\n', 'a.yaml:2:1: a second document begins here'],
    ['a: 1\nb: 2\na: 3\n', 'a.yaml:3:1: the key `a` is there twice (keep one of the two)'],
    ['x: { a: 1, a: 2 }\n', 'a.yaml:1:12: the key `a` is there twice'],
    ['1: a\n"1": b\n', 'a.yaml:2:1: the key `1` is there twice'],
    ['a: *nope\n', 'a.yaml:1:4: the alias *nope names nothing before it'],
    ['a: !!binary abcd\n', 'a.yaml:1:13: the tag tag:yaml.org,2002:binary is not plain data'],
    ['a: !custom 1\n', 'a.yaml:1:4: Unresolved tag: !custom'],
    ['? [a, b]\n: 1\n', 'a.yaml:1:3: a key is a word, a text in quotes or a number'],
    ['__proto__: { polluted: true }\n', 'a.yaml:1:1: the key `__proto__` cannot be used'],
    ['%YAML 1.1\n---\na: yes\n', 'a.yaml:1:1: the file says %YAML 1.1'],
    ['', 'a.yaml:1:1: the file is empty'],
    ['# only a comment\n', 'a.yaml:1:1: the file is empty'],
  ])('refuses %j at its place', (text, expected) => {
    expect(problems(text)[0]).toContain(expected)
  })

  it('tells every syntax error, in order', () => {
    const found = problems('a: "x\nb: [1\nc: {d\n')
    expect(found.length).toBeGreaterThan(0)
    const dupes = problems('a: 1\na: 2\nb: 1\nb: 2\n')
    expect(dupes).toEqual([
      'a.yaml:2:1: the key `a` is there twice (keep one of the two)',
      'a.yaml:4:1: the key `b` is there twice (keep one of the two)',
    ])
  })

  it('holds JSON files to JSON', () => {
    expect(problems('{"a": yes}', 'a.json')[0]).toContain('a.json:1:7: ')
    expect(problems('{"a": 1, "a": 2}', 'a.json')[0]).toContain('a.json:1:10: the key `a` is there twice')
  })

  it('shows what control characters a message would carry', () => {
    const [line = ''] = problems('"a\\u001b[2K\\nb": 1\n"a\\u001b[2K\\nb": 2\n')
    expect(line).toContain('\\u{1b}[2K\\nb')
    expect([...line].every((character) => character >= ' ')).toBe(true)
  })
})

describe('limits', () => {
  it('refuses a file that is too long before parsing it', () => {
    const result = readDocument('a: é\n', 'a.yaml', { maxBytes: 5 })
    expect(result).toMatchObject({ ok: false, error: [{ line: 1, column: 1, message: 'the file has 6 bytes; at most 5 are read' }] })
    expect(readDocument('a: é\n', 'a.yaml', { maxBytes: 6 }).ok).toBe(true)
  })

  it('refuses aliases that stand for more than was written', () => {
    const bomb = [
      'a0: &a0 [x, x, x, x, x, x, x, x, x, x]',
      ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`),
    ]
    expect(problems(bomb.join('\n')).at(-1)).toContain('aliases bring in more than 10000 values')
    expect(problems('a: &a [*a, *a]\n').length).toBeGreaterThan(0)
    expect(read('a: &x { k: 1 }\nb: *x\n').value).toEqual({ a: { k: 1 }, b: { k: 1 } })
  })

  it.each([
    ['[', 70],
    ['[', 50_000],
    ['- ', 70],
    ['- ', 50_000],
    ['{a: ', 70],
    ['{a: ', 20_000],
  ])('refuses %j nested %i deep', (open, depth) => {
    const close = open === '[' ? ']' : open === '- ' ? '' : '}'
    const found = problems(`${open.repeat(depth)}1${close.repeat(depth)}`)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThanOrEqual(101)
  })

  it('counts the problems that it does not list', () => {
    const found = problems(Array.from({ length: 500 }, () => 'a: 1').join('\n'))
    expect(found).toHaveLength(101)
    expect(found.at(-1)).toBe('a.yaml:102:1: and 399 more problems from here on (mend those above first)')
  })
})

describe('locate', () => {
  const text = [
    'name: x',
    'tasks:',
    '  - title: one',
    '    criteria: [a, { id: b }]',
    '  - { title: two, empty: }',
    'shared: &s { k: 1 }',
    'used: *s',
    '7: seven',
  ].join('\n')
  const { locate } = read(text)

  it.each<[Path, 'key' | undefined, number, number]>([
    [[], undefined, 1, 1],
    [['name'], undefined, 1, 7],
    [['name'], 'key', 1, 1],
    [['tasks', 0, 'title'], undefined, 3, 12],
    [['tasks', 0, 'title'], 'key', 3, 5],
    [['tasks', 0], undefined, 3, 5],
    [['tasks', 0, 'criteria', 1, 'id'], undefined, 4, 25],
    [['tasks', 1, 'title'], undefined, 5, 14],
    [['tasks', 1, 'empty'], undefined, 5, 19],
    [['used', 'k'], undefined, 6, 17],
    [['7'], undefined, 8, 4],
    [['tasks', 0, 'missing'], undefined, 3, 5],
    [['tasks', 9, 'title'], undefined, 3, 3],
    [['nowhere', 'at', 'all'], undefined, 1, 1],
  ])('places %j (%s) at %i:%i', (path, at, line, column) => {
    expect(locate(path, at)).toEqual({ file: 'a.yaml', line, column })
  })
})
