import { parsed } from './printed.ts'

/** An object in a file of an agent's login: the keys that lead to it, `*` for any, and its members that the agent renews by itself. */
export interface Renewal {
  at: readonly string[]
  tokens: readonly string[]
  /** Members that say what kind of entry it is: where a run changed one of them, nothing of the entry is taken. */
  same?: readonly string[]
}

/** A login as the run found it, as the run left it, and as it is by now for everybody else. */
export interface LoginTexts {
  found: string
  left: string
  now: string
}

type Entry = Readonly<Record<string, unknown>>

/** What a token may look like: no agent has longer ones, and none with spaces or line breaks. */
const tokenText = /^[\x21-\x7e]{1,65536}$/

/**
 * The login with the tokens that a run renewed, or undefined where it renewed none. Tokens take the place of tokens: every entry, every key and everything
 * else stays as it is by now, whatever the run wrote. An entry that somebody else has changed meanwhile is theirs.
 */
export function renewedLogin({ found, left, now }: LoginTexts, renewals: readonly Renewal[]): string | undefined {
  const [was, own, login] = [parsed(found), parsed(left), parsed(now)]
  let changed = false
  for (const { at, tokens, same = [] } of renewals) {
    for (const [entry, before, after] of entriesAt([login, was, own], at)) {
      const names = tokens.filter((name) => Object.hasOwn(entry, name))
      const isTheirs = names.some((name) => entry[name] !== before[name])
      const isAnother = same.some((name) => after[name] !== entry[name] || before[name] !== entry[name])
      if (isTheirs || isAnother || !names.every((name) => mayFollow(before[name], member(after, name)))) continue
      for (const name of names.filter((name) => after[name] !== entry[name])) {
        Object.assign(entry, { [name]: after[name] })
        changed = true
      }
    }
  }
  return changed ? `${JSON.stringify(login, null, 2)}\n` : undefined
}

/** The same entry in all three, for each that the login has by now. Lists are not looked into: a place in one belongs to nobody. */
function entriesAt(values: readonly [unknown, unknown, unknown], at: readonly string[]): [Entry, Entry, Entry][] {
  const [now, before, after] = values
  if (!isEntry(now) || !isEntry(before) || !isEntry(after)) return []
  const [step, ...rest] = at
  if (step === undefined) return [[now, before, after]]
  const keys = step === '*' ? Object.keys(now) : [step]
  return keys.flatMap((key) => entriesAt([member(now, key), member(before, key), member(after, key)], rest))
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function member(entry: Entry, key: string): unknown {
  return Object.hasOwn(entry, key) ? entry[key] : undefined
}

/** A token is followed by itself or by another of its kind, a time by a time. */
function mayFollow(before: unknown, after: unknown): boolean {
  if (after === before) return true
  if (typeof before === 'string') return typeof after === 'string' && tokenText.test(after)
  return typeof before === 'number' && typeof after === 'number' && Number.isFinite(after)
}
