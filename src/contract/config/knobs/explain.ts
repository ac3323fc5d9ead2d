import type { Config } from '../config.ts'
import type { Knob } from './knobs.ts'
import { configKnobs } from './known.ts'
import { peek } from '../read/other-names.ts'
import type { Origin } from '../read/parse.ts'

/** A knob with, where a configuration is given, its value and where that came from. */
export interface ExplainedKnob extends Knob {
  value?: unknown
  origin?: Origin
}

/** Every knob there is, as the schema declares it; what is printed by `assay config --explain`. */
export function explainConfig(config?: Config, origins?: Readonly<Record<string, Origin>>): ExplainedKnob[] {
  return configKnobs().map((knob) => {
    const value = config === undefined || knob.section ? undefined : peek(config, knob.path.split('.'))?.value
    const origin = origins?.[knob.path]
    return { ...knob, ...(value === undefined ? {} : { value }), ...(origin === undefined ? {} : { origin }) }
  })
}

/** Names under which a knob can be set beside its own, for people: `EVAL`, `--no-eval`, `evaluate`. */
export function otherNames(knob: Knob): string[] {
  const flag =
    knob.flag === undefined ? [] : [knob.flagSets === undefined ? `${knob.flag} <value>` : `${knob.flag} (= ${inline(knob.flagSets)})`]
  const aliases = knob.aliases.map((alias) => (knob.aliasSets === undefined ? alias : `${alias}: true (= ${inline(knob.aliasSets)})`))
  return [...(knob.env === undefined ? [] : [knob.env]), ...flag, ...aliases]
}

/** Type or choices of a knob, for people. */
export function typeWords(knob: Knob): string {
  return knob.choices === undefined ? knob.type : knob.choices.join(' | ')
}

/** A value in one short line: scalars as they are, long lists by the names of their entries. */
export function inline(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value === '' ? '""' : value
  const text = JSON.stringify(value)
  if (text.length <= 60) return text
  const entries = Array.isArray(value)
    ? value.map((entry) => String((entry as { name?: unknown } | null)?.name ?? '…'))
    : Object.keys(value as object)
  return `${entries.length}: ${entries.join(', ')}`
}

/** What a knob is without being set. */
export function defaultWords(knob: Knob): string {
  if (knob.section) return ''
  return knob.required ? 'required' : knob.default === undefined ? 'none' : inline(knob.default)
}
