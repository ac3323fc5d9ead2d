/** A word of a command, or a part of one, that names what the command runs. */
export interface ProgramWord {
  /** Place of the word in `argv`. */
  at: number
  /** What stands before the path in the word, such as `--import=`. */
  before: string
  path: string
  /** The path was made from the name of a module: the word stays as it is. */
  module?: true
}

const interpreters = /^(?:(?:ba|da|k|z)?sh|node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua[\d.]*|Rscript|pwsh)$/
/** Programs whose words all are tests or settings of theirs. */
const runners = /^(?:pytest|py\.test|vitest|jest|mocha|ava|tap|rspec|phpunit|bats)$/
/** Modules of Python that run what their words name. */
const testModules = new Set(['pytest', 'unittest', 'nose2'])
/** Programs that run another one, which their words name. */
const wrappers = /^(?:env|timeout|nice|npx|pnpm|pnpx|yarn|bunx|uv|uvx|poetry|pipenv|bundle|xvfb-run)$/
/** What follows is a program as text, or a file that is looked at and not run. */
const notAFile = new Set(['-c', '-e', '--eval', '-p', '--print', '--check', '-n'])
/** The next word is a file that is loaded before the program. */
const loads = new Set([
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
  '--init-file',
  '--rcfile',
  '-f',
  '--file',
  '--config',
])

/**
 * The words of a command that name its program: the first, where it is a path; where it is an interpreter or a runner of tests, the files that it runs.
 * Words that are data for the program are none. The text of a shell (`-c`) is not looked into.
 */
export function programWords(argv: readonly string[]): ProgramWord[] {
  const [first = ''] = argv
  const own = first.includes('/') ? [{ at: 0, before: '', path: first }] : []
  const start = wrappers.test(nameOf(first)) ? argv.findIndex(interprets) : Number(interprets(first)) - 1
  return start < 0 ? own : [...own, ...filesOf(argv, start)]
}

function interprets(word: string): boolean {
  return interpreters.test(nameOf(word)) || runners.test(nameOf(word))
}

function filesOf(argv: readonly string[], start: number): ProgramWord[] {
  const found: ProgramWord[] = []
  const named = (at: number, before = '') => {
    const path = (argv[at] ?? '').slice(before.length)
    if (path !== '') found.push({ at, before, path })
  }
  let every = runners.test(nameOf(argv[start] ?? ''))
  for (let at = start + 1; at < argv.length; at += 1) {
    const word = argv[at] ?? ''
    if (word === '-m') {
      const module = argv[at + 1] ?? ''
      found.push(...moduleFiles(module, at + 1))
      if (!testModules.has(module)) break
      every = true
      at += 1
    } else if (word === '--test' || word === 'test') every = true
    else if (loads.has(word)) {
      at += 1
      named(at)
    } else if (notAFile.has(word) && !every) break
    else if (!word.startsWith('-')) {
      named(at)
      if (!every) break
    } else if (word.includes('=')) named(at, word.slice(0, word.indexOf('=') + 1))
  }
  return found
}

function moduleFiles(module: string, at: number): ProgramWord[] {
  const file = module.replaceAll('.', '/')
  return [`${file}.py`, `${file}/__main__.py`].map((path) => ({ at, before: '', path, module: true }))
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

/** A relative path without detours, from `from` (itself relative); undefined where it leads out, or is absolute. */
export function insidePath(from: string, path: string): string | undefined {
  if (path.startsWith('/')) return undefined
  const steps: string[] = []
  for (const step of `${from}/${path}`.split('/')) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.length === 0 || steps.at(-1) === '..') steps.push('..')
    else steps.pop()
  }
  return steps.length === 0 || steps[0] === '..' ? undefined : steps.join('/')
}
