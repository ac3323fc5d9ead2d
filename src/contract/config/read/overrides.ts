import type { Problem } from '../../source/problem.ts'
import { shown } from '../../source/shown.ts'
import type { Knob } from '../knobs/knobs.ts'

/** Flags by their long name (`--eval-threshold`); `true` for one that takes no value. */
export type Flags = Readonly<Record<string, string | number | boolean | undefined>>
export type Environment = Readonly<Record<string, string | undefined>>

/** A knob set from outside the file. */
export interface Override {
  knob: Knob
  value: unknown
  source: 'env' | 'flag'
  /** Name of the variable or flag. */
  name: string
}

interface Overrides {
  overrides: Override[]
  problems: Problem[]
}

const switchWords = new Map([
  ['on', true],
  ['off', false],
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/** Where the value of an override stands, for problems. */
export function overridePlace(override: Pick<Override, 'source' | 'name'>): { file: string } {
  return { file: override.source === 'env' ? `environment variable ${override.name}` : override.name }
}

/** What the environment sets. A variable that is there but empty is refused: nobody can tell what was meant. */
export function readEnvironment(knobs: readonly Knob[], env: Environment): Overrides {
  const found: Overrides = { overrides: [], problems: [] }
  for (const knob of knobs) {
    const text = knob.env === undefined ? undefined : env[knob.env]
    if (knob.env !== undefined && text !== undefined) add(found, knob, 'env', knob.env, text)
  }
  return found
}

/** What the command line sets. */
export function readFlags(knobs: readonly Knob[], flags: Flags): Overrides {
  const found: Overrides = { overrides: [], problems: [] }
  for (const [name, given] of Object.entries(flags)) {
    if (given === undefined) continue
    const knob = knobs.find((candidate) => candidate.flag === name)
    if (!knob) found.problems.push({ file: name, path: '', message: 'no setting has this flag' })
    else if (knob.flagSets === undefined) add(found, knob, 'flag', name, given)
    else if (given === true) found.overrides.push({ knob, value: knob.flagSets, source: 'flag', name })
    else if (given !== false) found.problems.push({ file: name, path: knob.path, message: `the flag takes no value; got ${shown(given)}` })
  }
  return found
}

function add(found: Overrides, knob: Knob, source: Override['source'], name: string, given: string | number | boolean): void {
  const value = readText(knob, String(given))
  if (value !== undefined) found.overrides.push({ knob, value, source, name })
  else {
    const expected = knob.type === 'true or false' ? `one of ${[...switchWords.keys()].join(', ')}` : `a ${knob.type}`
    found.problems.push({
      ...overridePlace({ source, name }),
      path: knob.path,
      message: `\`${knob.path}\`: expected ${expected}; got ${shown(given)}`,
    })
  }
}

/** The value that a text stands for, by the knob's type; `undefined` where it stands for none. */
function readText(knob: Knob, text: string): unknown {
  if (knob.type === 'true or false') return switchWords.get(text.toLowerCase())
  if (knob.type === 'number' || knob.type === 'whole number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined
  return text === '' ? undefined : text
}
