import type { z } from 'zod'
import { MissionFile } from '../../mission/mission.ts'
import { Config } from '../config.ts'
import { type Knob, type SchemaNode, schemaTree } from './knobs.ts'
import { configKnobs } from './known.ts'

const ownKeywords = ['env', 'flag', 'flagSets', 'aliases', 'aliasSets', 'namesOn100', 'typeName']

/** JSON Schema of `assay.yaml` for editors; other names are in it, so that an editor accepts what the loader accepts. */
export function configJsonSchema(): SchemaNode {
  const schema = published(Config, 'assay.yaml', 'urn:assay:config:1')
  for (const knob of configKnobs()) {
    for (const alias of knob.section ? [] : knob.aliases) addOtherName(schema, knob, alias.split('.'))
  }
  return schema
}

/** JSON Schema of mission files for editors. */
export function missionJsonSchema(): SchemaNode {
  return published(MissionFile, 'Assay mission', 'urn:assay:mission:1')
}

function published(schema: z.ZodType, title: string, $id: string): SchemaNode {
  const { $schema, ...rest } = schemaTree(schema)
  return { $schema, $id, title, ...(withoutOwnKeywords(rest, false) as SchemaNode) }
}

/** Our own keywords told in the description instead: strict validators refuse keywords that they do not know. */
function withoutOwnKeywords(value: unknown, isPropertyMap: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutOwnKeywords(item, false))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => isPropertyMap || !ownKeywords.includes(key))
  return Object.fromEntries(
    entries.map(([key, child]) => [
      key,
      key === 'default' && !isPropertyMap ? child : withoutOwnKeywords(child, key === 'properties' && !isPropertyMap),
    ]),
  )
}

function addOtherName(schema: SchemaNode, knob: Knob, alias: string[]): void {
  let holder = schema
  for (const step of alias.slice(0, -1)) {
    holder.properties ??= {}
    holder.properties[step] ??= { type: 'object', description: `Other names of settings.`, properties: {}, additionalProperties: false }
    holder = holder.properties[step]
  }
  const own = knob.path.split('.').reduce<SchemaNode | undefined>((node, step) => node?.properties?.[step], schema)
  const last = alias.at(-1)
  if (last === undefined || own === undefined) return
  const shape: SchemaNode = knob.aliasSets === undefined ? { ...own } : { type: 'boolean' }
  delete shape.default
  holder.properties ??= {}
  holder.properties[last] = { ...shape, description: `Other name of \`${knob.path}\`. ${knob.description}` }
}
