import type { Result } from '../../contract/errors.ts'
import { record } from './call.ts'
import type { Dialect, Entry } from './dialects.ts'
import { isOwnCommand } from './own-command.ts'

type Fields = Record<string, unknown>

/** Fields of an entry in which Assay writes a command; others may stand beside it. */
const ownable = ['command', 'bash']

/**
 * An agent's settings with the hook's command in them, or without it; everything else stays as it is. Text that needs no change comes back as it
 * came; empty text means that nothing is left which is not Assay's.
 */
export function changedSettings(
  text: string | undefined,
  { agent, dialect, command }: { agent: string; dialect: Dialect; command: string | undefined },
): Result<string, string> {
  const settings = parsed(text)
  if (!settings) return { ok: false, error: 'it is no JSON object; mend it first' }
  const before = JSON.stringify(settings)
  const entries = dialect.entries(command ?? '')
  for (const entry of entries) {
    const problem = command === undefined ? takeOut(settings, entry, agent) : putIn(settings, entry, agent, command)
    if (problem !== undefined) return { ok: false, error: problem }
  }
  if (text !== undefined && JSON.stringify(settings) === before) return { ok: true, value: text }
  const isEmpty = Object.keys(settings).every((key) => entries.some(({ beside }) => Object.hasOwn(beside ?? {}, key)))
  if (command === undefined && isEmpty) return { ok: true, value: '' }
  const indent = /^([ \t]+)"/m.exec(text ?? '')?.[1] ?? '  '
  return { ok: true, value: `${JSON.stringify(settings, null, indent)}\n` }
}

function parsed(text: string | undefined): Fields | undefined {
  if (text === undefined || text.trim() === '') return {}
  try {
    const value = JSON.parse(text) as unknown
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The command of an entry that is there already is brought up to date where it stands, with whatever a person put around it. */
function putIn(settings: Fields, { path, value, beside }: Entry, agent: string, command: string): string | undefined {
  let holder = settings
  for (const key of path.slice(0, -1)) {
    if (holder[key] === undefined) holder[key] = {}
    const inner = holder[key]
    if (!isObject(inner)) return `\`${key}\` is no object in it`
    holder = inner
  }
  const last = path.at(-1) ?? ''
  if (holder[last] === undefined) holder[last] = []
  const list = holder[last]
  if (!Array.isArray(list)) return `\`${path.join('.')}\` is no list in it`
  const own = hooksIn(list).filter((hook) => ownFields(hook, agent).length > 0)
  for (const hook of own) for (const field of ownFields(hook, agent)) hook[field] = command
  if (own.length === 0) list.push(value)
  for (const [key, field] of Object.entries(beside ?? {})) settings[key] ??= field
  return undefined
}

/** Takes out commands of Assay's, then what held nothing else. */
function takeOut(settings: Fields, { path }: Entry, agent: string): string | undefined {
  const holders: Fields[] = [settings]
  for (const key of path.slice(0, -1)) {
    const inner = holders.at(-1)?.[key]
    if (inner === undefined) return undefined
    if (!isObject(inner)) return `\`${key}\` is no object in it`
    holders.push(inner)
  }
  const list = holders.at(-1)?.[path.at(-1) ?? '']
  if (list === undefined) return undefined
  if (!Array.isArray(list)) return `\`${path.join('.')}\` is no list in it`
  if (!hooksIn(list).some((hook) => ownFields(hook, agent).length > 0)) return undefined
  const rest = without(list, agent)
  if (rest.length > 0) {
    list.splice(0, list.length, ...rest)
    return undefined
  }
  for (const [depth, holder] of [...holders.entries()].reverse()) {
    delete holder[path[depth] ?? '']
    if (Object.keys(holder).length > 0) break
  }
  return undefined
}

/** A list of entries or of groups of them, without Assay's. A group that held nothing else goes with them. */
function without(list: readonly unknown[], agent: string): unknown[] {
  return list.flatMap((one) => {
    const { hooks } = record(one)
    if (Array.isArray(hooks)) {
      const rest = without(hooks, agent)
      return hooks.length > 0 && rest.length === 0 ? [] : [{ ...record(one), hooks: rest }]
    }
    const own = ownFields(one, agent)
    if (own.length === 0) return [one]
    const kept = Object.fromEntries(Object.entries(record(one)).filter(([field]) => !own.includes(field)))
    return [...ownable, 'powershell'].some((field) => field in kept) ? [kept] : []
  })
}

/** Hooks of a list, those in groups included. */
function hooksIn(list: readonly unknown[]): Fields[] {
  return list.flatMap((one) => {
    const { hooks } = record(one)
    return Array.isArray(hooks) ? hooksIn(hooks) : [record(one)]
  })
}

const ownFields = (hook: unknown, agent: string): string[] => ownable.filter((field) => isOwnCommand(record(hook)[field], agent))

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
