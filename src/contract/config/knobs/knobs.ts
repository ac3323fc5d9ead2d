import { z } from 'zod'

/** What a knob's `.meta()` may say beside its description. */
const KnobMeta = z.object({
  env: z.string().optional(),
  flag: z.string().optional(),
  /** The value that a flag without an argument sets. */
  flagSets: z.unknown().optional(),
  /** Other dotted names of the same knob or section. */
  aliases: z.array(z.string()).default([]),
  /** The other name is a switch: `true` there means this value here. */
  aliasSets: z.unknown().optional(),
  /** Environment, flag and other names are commonly given on 0–100; a value of 5 or less there is worth a warning. */
  namesOn100: z.boolean().default(false),
  typeName: z.string().optional(),
})

/** The parts of JSON Schema that `z.toJSONSchema` prints for our schemas. */
export interface SchemaNode {
  type?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  description?: string
  properties?: Record<string, SchemaNode>
  required?: string[]
  items?: SchemaNode
  additionalProperties?: SchemaNode | boolean
  oneOf?: SchemaNode[]
  anyOf?: SchemaNode[]
  [keyword: string]: unknown
}

/** One thing that can be set, as the schema declares it. */
export interface Knob {
  /** `review.panel.size`; in collections `agents.<name>.role`, `checks[].argv`. */
  path: string
  /** Only for these kinds of thing: `kind: command, file`. */
  when?: string
  type: string
  choices?: string[]
  default?: unknown
  required: boolean
  description: string
  env?: string
  flag?: string
  flagSets?: unknown
  /** Other dotted names accepted in the file. */
  aliases: string[]
  aliasSets?: unknown
  namesOn100: boolean
  /** A mapping whose members are knobs of their own. */
  section: boolean
}

interface Standing {
  path: string
  required: boolean
  /** Other names of the section around it. */
  aliases: string[]
}

/** The schema of the input, as JSON Schema with our own keywords still in it. */
export function schemaTree(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input' }) as SchemaNode
}

/** Every knob of a schema, in the order in which it is declared, sections before their members. */
export function knobsOf(schema: z.ZodType): Knob[] {
  return members(schemaTree(schema), { path: '', required: true, aliases: [] })
}

function visit(node: SchemaNode, at: Standing): Knob[] {
  return [knobOf(node, at), ...members(node, at)]
}

function members(node: SchemaNode, at: Standing): Knob[] {
  const own = KnobMeta.parse(node)
  const aliases = [...own.aliases, ...at.aliases]
  if (node.properties && isDescribed(node.properties)) {
    return Object.entries(node.properties).flatMap(([key, child]) =>
      visit(child, {
        ...at,
        path: at.path === '' ? key : `${at.path}.${key}`,
        required: node.required?.includes(key) ?? false,
        aliases: aliases.map((alias) => `${alias}.${key}`),
      }),
    )
  }
  const inside = { ...at, aliases: [] }
  if (node.items && isRich(node.items)) return members(node.items, { ...inside, path: `${at.path}[]` })
  if (typeof node.additionalProperties === 'object' && isRich(node.additionalProperties)) {
    return members(node.additionalProperties, { ...inside, path: `${at.path}.<name>` })
  }
  return kindMembers(
    optionsOf(node).filter((option) => option.properties !== undefined),
    at,
  )
}

/** Members of several shapes: the kind once with its choices, then each key once with the kinds that it belongs to. */
function kindMembers(options: SchemaNode[], at: Standing): Knob[] {
  const merged = new Map<string, { row: Knob; kinds: string[] }>()
  const kinds = options.flatMap((option) => option.properties?.kind?.const ?? []).map(String)
  for (const option of options) {
    for (const row of members(option, at)) {
      if (kinds.length > 0 && row.path === `${at.path}.kind`) continue
      const key = [row.path, row.type, row.description].join(' ')
      const entry = merged.get(key) ?? { row, kinds: [] }
      entry.kinds.push(String(option.properties?.kind?.const ?? ''))
      merged.set(key, entry)
    }
  }
  const rows = [...merged.values()].map(({ row, kinds: of }) =>
    of.length === options.length ? row : { ...row, when: `kind: ${of.join(', ')}` },
  )
  if (kinds.length === 0) return rows
  const description = 'Which kind it is; it decides which other keys there are.'
  return [knobOf({ type: 'string', enum: kinds, description }, { path: `${at.path}.kind`, required: true, aliases: [] }), ...rows]
}

/** A mapping whose members are not described says all in its own row. */
function isDescribed(properties: Record<string, SchemaNode>): boolean {
  return Object.values(properties).some((child) => child.description !== undefined)
}

/** Whether something inside deserves rows of its own. */
function isRich(node: SchemaNode): boolean {
  return node.properties !== undefined || optionsOf(node).some((option) => option.properties !== undefined)
}

/** The shapes that a node may have, unions inside unions laid flat; none for a node of one shape. */
function optionsOf(node: SchemaNode): SchemaNode[] {
  return (node.oneOf ?? node.anyOf ?? []).flatMap((option) => (option.oneOf || option.anyOf ? optionsOf(option) : [option]))
}

function knobOf(node: SchemaNode, at: Standing): Knob {
  const meta = KnobMeta.parse(node)
  const choices = (node.enum ?? (node.const === undefined ? [] : [node.const])).map(String)
  return {
    path: at.path,
    type: meta.typeName ?? typeOf(node),
    ...(choices.length > 0 ? { choices } : {}),
    ...(node.properties === undefined && node.default !== undefined ? { default: node.default } : {}),
    required: at.required,
    description: node.description ?? '',
    ...(meta.env === undefined ? {} : { env: meta.env }),
    ...(meta.flag === undefined ? {} : { flag: meta.flag }),
    ...(meta.flagSets === undefined ? {} : { flagSets: meta.flagSets }),
    aliases: [...meta.aliases, ...at.aliases],
    ...(meta.aliasSets === undefined ? {} : { aliasSets: meta.aliasSets }),
    namesOn100: meta.namesOn100,
    section: node.properties !== undefined && isDescribed(node.properties),
  }
}

const plainTypes: Record<string, string> = { boolean: 'true or false', integer: 'whole number', number: 'number', string: 'text' }

function typeOf(node: SchemaNode): string {
  if (node.properties) return isDescribed(node.properties) ? 'section' : 'mapping'
  if (node.items) return `list of ${plural(node.items)}`
  if (typeof node.additionalProperties === 'object') return 'mapping by name'
  const options = optionsOf(node)
  if (options.length > 0) return [...new Set(options.map((option) => (option.properties ? 'mapping' : typeOf(option))))].join(' or ')
  if (node.const !== undefined) return String(node.const)
  return plainTypes[node.type ?? ''] ?? 'anything'
}

function plural(node: SchemaNode): string {
  if (isRich(node)) return 'mappings'
  return node.type === 'string' ? 'texts' : `${plainTypes[node.type ?? ''] ?? 'value'}s`
}
