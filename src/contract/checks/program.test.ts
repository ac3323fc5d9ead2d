import { describe, expect, it } from 'vitest'
import { insidePath, programWords } from './program.ts'

const named = (...argv: string[]) => programWords(argv).map(({ at, before, path }) => `${at} ${before}|${path}`)

describe('the words of a command that name its program', () => {
  it.each<[string[], string[]]>([
    [['./check.sh', 'out.txt'], ['0 |./check.sh']],
    [['bash', 'check.sh', 'out.txt'], ['1 |check.sh']],
    [
      ['/bin/sh', '-x', 'check.sh'],
      ['0 |/bin/sh', '2 |check.sh'],
    ],
    [
      ['node', '--import=./setup.mjs', 'check.mjs', 'work.txt'],
      ['1 --import=|./setup.mjs', '2 |check.mjs'],
    ],
    [
      ['node', '--import', './setup.mjs', 'check.mjs'],
      ['2 |./setup.mjs', '3 |check.mjs'],
    ],
    [
      ['node', '--test', 'test/a.mjs', 'test/b.mjs'],
      ['2 |test/a.mjs', '3 |test/b.mjs'],
    ],
    [
      ['python3', '-m', 'checks.all', 'x'],
      ['2 |checks/all.py', '2 |checks/all/__main__.py'],
    ],
    [
      ['python3', '-m', 'pytest', 'test_a.py'],
      ['2 |pytest.py', '2 |pytest/__main__.py', '3 |test_a.py'],
    ],
    [['pytest', '-q', 'test/test_a.py'], ['2 |test/test_a.py']],
    [
      ['npx', 'vitest', 'run', 'a.test.ts'],
      ['2 |run', '3 |a.test.ts'],
    ],
    [['env', 'A=1', 'python3.12', 'check.py'], ['3 |check.py']],
  ])('%j', (argv, words) => expect(named(...argv)).toEqual(words))

  it.each([
    [['grep', 'hello', 'core.txt']],
    [['cmp', 'out.txt', 'golden.txt']],
    [['sh', '-c', './check.sh']],
    [['node', '--check', 'src/app.js']],
    [['npm', 'test']],
    [['grep', 'node', 'core.txt']],
  ])('are not those that are data or text: %j', (argv) => expect(named(...argv)).toEqual([]))
})

it.each([
  ['', './a//b', 'a/b'],
  ['app', '../a', 'a'],
  ['app', 'x/../y', 'app/y'],
  ['', '../a', undefined],
  ['app', '../..', undefined],
  ['', '/etc/passwd', undefined],
  ['', '.', undefined],
])('a path from %j to %j is %j inside', (from, path, inside) => expect(insidePath(from, path)).toBe(inside))
