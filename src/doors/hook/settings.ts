import type { Result } from '../../contract/errors.ts'
import { record } from './call.ts'
import type { Dialect, Entry } from './dialects.ts'

/** How Assay's own entries are told from everybody else's. */
const own = /\bassay(\.mjs)?["']?\s+hook\b/

/** An agent's settings with Assay's entries in them, or without; everything else stays as it is. */
export function changedSettings(text: string | undefined, dialect: Dialect, command: string | undefined): Result<string, string> {
  const settings = parsed(text)
  if (!settings) return { ok: false, error: 'it is no JSON object; mend it first' }
  const entries = dialect.entries(command ?? '')
  for (const entry of entries) {
    const problem = place(settings, entry, command !== undefined)
    if (problem !== undefined) return { ok: false, error: problem }
  }
  const indent = /^([ \t]+)"/m.exec(text ?? '')?.[1] ?? '  '
  const isEmpty = Object.keys(settings).every((key) => entries.some(({ beside }) => Object.hasOwn(beside ?? {}, key)))
  if (command === undefined && isEmpty) return { ok: true, value: '' }
  return { ok: true, value: `${JSON.stringify(settings, null, indent)}\n` }
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text.trim() === '') return {}
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Puts the entry into its list in place of an older one, or takes it out; lists and objects that are empty then go, too. */
function place(settings: Record<string, unknown>, { path, value, beside }: Entry, wanted: boolean): string | undefined {
  const parents: Record<string, unknown>[] = [settings]
  for (const key of path.slice(0, -1)) {
    const parent = parents.at(-1) as Record<string, unknown>
    if (parent[key] === undefined) parent[key] = {}
    if (typeof parent[key] !== 'object' || parent[key] === null || Array.isArray(parent[key])) return `\`${key}\` is no object in it`
    parents.push(parent[key] as Record<string, unknown>)
  }
  const last = path.at(-1) ?? ''
  const list = (parents.at(-1) as Record<string, unknown>)[last] ?? []
  if (!Array.isArray(list)) return `\`${path.join('.')}\` is no list in it`
  const others = list.filter((one) => !isOwn(one))
  const next = wanted ? [...others, value] : others
  const holder = parents.at(-1) as Record<string, unknown>
  if (next.length > 0) holder[last] = next
  else delete holder[last]
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const parent = parents[depth - 1] as Record<string, unknown>
    const key = path[depth - 1] as string
    if (Object.keys(parent[key] as object).length === 0) delete parent[key]
  }
  if (wanted) for (const [key, field] of Object.entries(beside ?? {})) settings[key] ??= field
  return undefined
}

/** Whether an entry calls Assay's hook: directly, or as one of a group of hooks that are all Assay's. */
export function isOwn(entry: unknown): boolean {
  const { command, bash, hooks } = record(entry)
  if (Array.isArray(hooks)) return hooks.length > 0 && hooks.every(isOwn)
  return [command, bash].some((text) => typeof text === 'string' && own.test(text))
}
