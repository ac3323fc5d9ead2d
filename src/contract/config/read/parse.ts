import type { Result } from '../../errors.ts'
import { readDocument, type SourceDocument } from '../../source/document.ts'
import { parseWith } from '../../source/issues.ts'
import { arrange, formatPath, formatPlace, type Locate, type Path, placeFindings, type Problem } from '../../source/problem.ts'
import { Config } from '../config.ts'
import type { Knob } from '../knobs/knobs.ts'
import { configKnobs } from '../knobs/known.ts'
import { applyOtherNames, peek, put, type Renamed } from './other-names.ts'
import { type Environment, type Flags, type Override, overridePlace, readEnvironment, readFlags } from './overrides.ts'

export interface ConfigSource {
  /** Content of the file; absent where there is no file. */
  text?: string | undefined
  /** Its name, for messages. */
  file: string
  env?: Environment
  flags?: Flags
}

/** Where the value of a knob came from. */
export interface Origin {
  source: 'flag' | 'env' | 'file' | 'default'
  /** The flag, the variable or the place in the file. */
  name?: string
}

export interface ParsedConfig {
  config: Config
  /** By dotted path, for every knob. */
  origins: Record<string, Origin>
  notices: Problem[]
  locate: Locate
}

type Mapping = Record<string, unknown>

/**
 * Shape of the configuration: flag over environment over file over default. Each layer must be right by itself, so a mistake in the file
 * does not hide behind a variable. The rules that need more than the shape are added by `loadConfig` in core/config.
 */
export function parseConfig(source: ConfigSource): Result<ParsedConfig, Problem[]> {
  const knobs = configKnobs()
  const read = readFile(source)
  if (!read.ok) return read
  const renamed = applyOtherNames(read.value.value, knobs, read.value.locate)
  const env = readEnvironment(knobs, source.env ?? {})
  const flags = readFlags(knobs, source.flags ?? {})
  const problems = [...placeFindings(renamed.findings, read.value.locate), ...env.problems, ...flags.problems]

  let config: Config | undefined
  const overrides = new Map<string, Override>()
  const locate = locator(read.value.locate, renamed, overrides)
  for (const [index, layer] of [[], env.overrides, flags.overrides].entries()) {
    if (index > 0 && layer.length === 0) continue
    for (const override of layer) {
      overrides.set(override.knob.path, override)
      put(renamed.value as Mapping, override.knob.path.split('.'), override.value)
    }
    const parsed = parseWith(Config, renamed.value)
    if (parsed.ok) config = parsed.value
    else problems.push(...placeFindings(parsed.error, locate))
    // A file that is wrong is told by itself; nothing is laid over it.
    if (!parsed.ok && index === 0) break
  }
  if (problems.length > 0 || config === undefined) return { ok: false, error: arrange(problems) }
  const origins = Object.fromEntries(settable(knobs).map((knob) => [knob.path, originOf(knob, renamed, overrides, read.value.locate)]))
  return { ok: true, value: { config, origins, notices: scaleNotices(config, renamed, overrides, locate), locate } }
}

/** The file, or nothing where there is none. */
export function readFile(source: ConfigSource): Result<SourceDocument, Problem[]> {
  if (source.text !== undefined) return readDocument(source.text, source.file)
  return { ok: true, value: { file: source.file, value: {}, locate: () => ({ file: source.file }) } }
}

/** Knobs that stand at a fixed path: those that an origin can be told of. */
function settable(knobs: readonly Knob[]): Knob[] {
  return knobs.filter((knob) => !knob.section && !/[[<]/.test(knob.path))
}

function locator(inFile: Locate, renamed: Renamed, overrides: ReadonlyMap<string, Override>): Locate {
  return (path: Path, at) => {
    const override = overrides.get(formatPath(path))
    return override ? overridePlace(override) : inFile(renamed.written(path), at)
  }
}

function originOf(knob: Knob, renamed: Renamed, overrides: ReadonlyMap<string, Override>, inFile: Locate): Origin {
  const override = overrides.get(knob.path)
  if (override) return { source: override.source, name: override.name }
  const path = knob.path.split('.')
  if (peek(renamed.value, path) === undefined) return { source: 'default' }
  return { source: 'file', name: formatPlace(inFile(renamed.written(path), 'key')) }
}

/** A bar of 5 or less under a name that is commonly on 0–100 is kept, and told. */
function scaleNotices(config: Config, renamed: Renamed, overrides: ReadonlyMap<string, Override>, locate: Locate): Problem[] {
  return configKnobs()
    .filter((knob) => knob.namesOn100)
    .flatMap((knob) => {
      const name = overrides.get(knob.path)?.name ?? renamed.used.get(knob.path)
      const path = knob.path.split('.')
      const bar = peek(config, path)?.value
      if (name === undefined || typeof bar !== 'number' || bar > 5) return []
      if (bar === 0) return [{ ...locate(path), path: knob.path, message: `${name} is 0: every score reaches that bar` }]
      const on100 = Number((bar * 20).toFixed(6))
      const message = `${name} is commonly on 0–100; ${bar} is read on the 1–5 scale and means ${on100} there`
      return [{ ...locate(path), path: knob.path, message, fix: `write ${on100} to say the same without doubt` }]
    })
}
