import { isDeepStrictEqual } from 'node:util'
import { unknownKey } from '../../source/issues.ts'
import { type Finding, formatPath, formatPlace, type Locate, type Path } from '../../source/problem.ts'
import { shown } from '../../source/shown.ts'
import type { Knob } from '../knobs/knobs.ts'

type Mapping = Record<string, unknown>

/** A document in which every knob stands under its own name. */
export interface Renamed {
  value: unknown
  findings: Finding[]
  /** Where a path of the renamed document stood in the one that was written. */
  written: (path: Path) => Path
  /** Knobs that were set by another name: its own path, and that name. */
  used: Map<string, string>
}

/** Moves values from other names to the knobs' own. The same knob twice with different values is a finding that names both places. */
export function applyOtherNames(document: unknown, knobs: readonly Knob[], locate: Locate): Renamed {
  const findings: Finding[] = []
  const used = new Map<string, string>()
  if (!isMapping(document)) return { value: document, findings, written: (path) => path, used }
  const value = structuredClone(document)
  for (const knob of knobs) {
    if (knob.section) continue
    for (const alias of knob.aliases) {
      const found = take(value, alias.split('.'))
      if (found === undefined) continue
      const finding = settle(value, knob, alias, found.value, locate)
      if (finding) findings.push(finding)
      else used.set(knob.path, alias)
    }
  }
  findings.push(...leftovers(value, knobs))
  return { value, findings, written: (path) => writtenPath(path, used), used }
}

function settle(value: Mapping, knob: Knob, alias: string, given: unknown, locate: Locate): Finding | undefined {
  const aliasPath = alias.split('.')
  const own = knob.path.split('.')
  const present = peek(value, own)
  const isSwitch = knob.aliasSets !== undefined
  if (isSwitch && typeof given !== 'boolean')
    return { path: aliasPath, message: `\`${alias}\`: expected true or false; got ${shown(given)}` }
  const meant = isSwitch && given === true ? knob.aliasSets : given
  const agrees = isSwitch && given === false ? !isDeepStrictEqual(present?.value, knob.aliasSets) : isDeepStrictEqual(present?.value, meant)
  if (present && !agrees) {
    const place = formatPlace(locate(own))
    return {
      path: aliasPath,
      at: 'key',
      message: `\`${alias}\` (${shown(given)}) and \`${knob.path}\` (${shown(present.value)}, ${place}) are two names of one setting and disagree`,
      fix: 'keep one of the two',
    }
  }
  if (!present && !(isSwitch && given === false)) put(value, own, meant)
}

/** What still stands under a mapping that exists only to hold other names (`settings`): nobody reads it. */
function leftovers(value: Mapping, knobs: readonly Knob[]): Finding[] {
  const findings: Finding[] = []
  const dotted = knobs.flatMap((knob) => knob.aliases.map((alias) => alias.split('.'))).filter((alias) => alias.length > 1)
  for (const root of new Set(dotted.map(([first = '']) => first))) {
    if (!Object.hasOwn(value, root)) continue
    inspect(value[root], [root])
    delete value[root]
  }
  return findings

  function inspect(inner: unknown, path: string[]): void {
    const known = [
      ...new Set(dotted.filter((alias) => path.every((step, index) => alias[index] === step)).map((alias) => alias[path.length] ?? '')),
    ]
    if (!isMapping(inner)) {
      findings.push({ path, message: `\`${formatPath(path)}\`: expected a mapping; got ${shown(inner)}` })
      return
    }
    for (const [key, child] of Object.entries(inner)) {
      if (known.includes(key)) inspect(child, [...path, key])
      else findings.push(unknownKey(key, path, known))
    }
  }
}

function writtenPath(path: Path, used: Map<string, string>): Path {
  for (let length = path.length; length > 0; length--) {
    const alias = used.get(formatPath(path.slice(0, length)))
    if (alias !== undefined) return [...alias.split('.'), ...path.slice(length)]
  }
  return path
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path, boxed, so that a written `null` differs from nothing. */
export function peek(value: unknown, path: readonly string[]): { value: unknown } | undefined {
  let inner = value
  for (const step of path) {
    if (!isMapping(inner) || !Object.hasOwn(inner, step)) return undefined
    inner = inner[step]
  }
  return { value: inner }
}

/** Removes and returns the value at a path. */
function take(value: Mapping, path: string[]): { value: unknown } | undefined {
  const found = peek(value, path)
  const holder = peek(value, path.slice(0, -1))?.value
  const last = path.at(-1)
  if (found && isMapping(holder) && last !== undefined) delete holder[last]
  return found
}

/** Sets the value at a path, making sections on the way; where something else stands in the way, the schema will say so. */
export function put(value: Mapping, path: readonly string[], given: unknown): void {
  let inner = value
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(inner, step)) inner[step] = {}
    const next = inner[step]
    if (!isMapping(next)) return
    inner = next
  }
  const last = path.at(-1)
  if (last !== undefined) inner[last] = given
}
