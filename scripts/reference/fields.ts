/** The parts of JSON Schema that our schemas print. */
export interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  maxLength?: number
  $ref?: string
}

interface Field {
  path: string
  type: string
  required: boolean
  description: string
}

/** Deepest that a table goes; what is deeper is named by its type. */
const deepest = 4

/** Every field of an object, by its path: `points[].text`. Forms that exclude one another are listed together, each field once. */
export function fieldsOf(schema: Schema, prefix = '', depth = 0): Field[] {
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return onlyOnce(forms.flatMap((form) => fieldsOf(form, prefix, depth).map((field) => ({ ...field, required: false }))))
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const own = { path, type: typeOf(field), required: schema.required?.includes(name) ?? false, description: field.description ?? '' }
    return [own, ...(depth < deepest ? inside(field, path, depth) : [])]
  })
}

function inside(field: Schema, path: string, depth: number): Field[] {
  if (field.items) return fieldsOf(field.items, `${path}[]`, depth + 1)
  if (typeof field.additionalProperties === 'object') return fieldsOf(field.additionalProperties, `${path}.<name>`, depth + 1)
  return fieldsOf(field, path, depth + 1)
}

function onlyOnce(fields: Field[]): Field[] {
  const known = new Map<string, Field>()
  for (const field of fields) if (!known.has(field.path)) known.set(field.path, field)
  return [...known.values()]
}

const words: Record<string, string> = { string: 'text', integer: 'whole number', boolean: 'true or false', array: 'list', null: 'nothing' }

function typeOf(schema: Schema): string {
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return [...new Set(forms.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.items) return `list of ${typeOf(schema.items)}`
  const { type = 'anything' } = schema
  return (Array.isArray(type) ? type : [type]).map((word) => words[word] ?? word).join(' or ')
}

/** A table of fields, or a line that says that there are none. */
export function fieldTable(schema: Schema, none: string): string[] {
  const fields = fieldsOf(schema)
  if (fields.length === 0) return [none]
  const rows = fields.map(({ path, type, required, description }) => {
    return `| \`${path}\` | ${inCell(type)} | ${required ? 'yes' : ''} | ${inCell(description)} |`
  })
  return ['| field | type | always | |', '|---|---|---|---|', ...rows]
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
