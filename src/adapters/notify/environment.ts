import type { Sent } from '../../ports/notifier.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type Found = { ok: true; value: string } | Extract<Sent, { ok: false }>

/** A secret by the name of its variable. What is missing or wrong is said by that name, never by the value. */
export function fromEnvironment(env: Environment, name: string): Found {
  const value = env[name]?.trim()
  return value ? { ok: true, value } : refuse(`the environment variable ${name} is not set`)
}

/** An http or https address; one with a user and password in it is none that can be posted to. */
export function addressFrom(env: Environment, name: string): Found {
  const found = fromEnvironment(env, name)
  if (!found.ok) return found
  return isPostable(found.value) ? found : refuse(`the environment variable ${name} does not hold an http or https address`)
}

export function isPostable(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password } = new URL(address)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

export function refuse(detail: string): Extract<Sent, { ok: false }> {
  return { ok: false, retry: false, detail }
}
