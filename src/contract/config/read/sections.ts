import type { Locate } from '../../source/problem.ts'
import { Config } from '../config.ts'
import { configKnobs } from '../knobs/known.ts'
import { applyOtherNames, isMapping } from './other-names.ts'
import { type ConfigSource, readFile } from './parse.ts'

/** A configuration whose file is wrong in places, section by section. */
export interface ReadSections {
  /** Sections that are as they should be; the default of every other. */
  config: Config
  /** Names of the sections that could not be read. */
  unread: ReadonlySet<string>
  /** The file as it was written, under the knobs' own names. */
  raw: Record<string, unknown>
  locate: Locate
}

/** What can be read of a file that is wrong somewhere, so that the rest is looked at in the same go; undefined where nothing can. */
export function readSections(source: ConfigSource): ReadSections | undefined {
  const read = readFile(source)
  if (!read.ok) return undefined
  const renamed = applyOtherNames(read.value.value, configKnobs(), read.value.locate)
  const raw = renamed.value
  if (!isMapping(raw)) return undefined
  const unread = new Set<string>()
  const sections = Object.entries(Config.shape).flatMap(([name, section]) => {
    const parsed = section.safeParse(raw[name])
    if (!parsed.success) unread.add(name)
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : []
  })
  const config = { ...Config.parse({}), ...Object.fromEntries(sections) } as Config
  return { config, unread, raw, locate: (path, at) => read.value.locate(renamed.written(path), at) }
}
