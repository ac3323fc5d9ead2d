import type { Verdict } from '../../contract/verdict.ts'
import { acceptingVerdict, rejectingVerdict } from '../sample-verdict.ts'
import { askedAbout, type ModelRequest } from './request.ts'

/** Why a message ended. Each dialect has its own word for it; `unknown` is a word that nobody knows, `missing` is none. */
export type Finish = 'normal' | 'length' | 'content-filter' | 'refusal' | 'unknown' | 'missing'

/** What a model says. */
export interface Message {
  kind: 'message'
  text?: string
  /** Tool calls. The arguments are text, put on the wire as they stand, so that they may be wrong. */
  calls?: { name: string; args: string }[]
  finish?: Finish
  /** Tokens that the answer claims to have used; 100 and 20 unless told. */
  tokens?: { input: number; output: number }
  delivery?: Delivery
}

/** Any answer that a web server can give. */
export interface Page {
  kind: 'page'
  status: number
  headers?: Record<string, string>
  body: string | Buffer
  delivery?: Delivery
}

/** How the bytes go out; all at once unless told. */
export type Delivery =
  /** Nothing comes any more: not even headers, or nothing after them. */
  | { how: 'hang'; before: 'headers' | 'body' }
  /** One byte at a time. */
  | { how: 'trickle'; everyMs: number }
  /** The first bytes only; then a proper end, or a broken connection. */
  | { how: 'cut'; after: number; by: 'end' | 'reset' }
  /** That many blanks first, which JSON allows. */
  | { how: 'flood'; bytes: number }
  /** All of it, after a while. */
  | { how: 'late'; afterMs: number }

export type Answer = Message | Page

/** A well-formed accept, in all that the request asks for. */
export function accept(request: ModelRequest, changes: Partial<Verdict> = {}): Message {
  return submit(JSON.stringify(acceptingVerdict(askedAbout(request), changes)))
}

/** A well-formed reject. */
export function reject(request: ModelRequest, changes: Partial<Verdict> = {}): Message {
  return submit(JSON.stringify(rejectingVerdict(askedAbout(request), changes)))
}

/** Calls of `submit_verdict` with these arguments, one for each. */
export function submit(...args: string[]): Message {
  return { kind: 'message', calls: args.map((one) => ({ name: 'submit_verdict', args: one })) }
}

/** A call of any tool: how a model looks around. */
export function use(name: string, args: unknown): Message {
  return { kind: 'message', calls: [{ name, args: typeof args === 'string' ? args : JSON.stringify(args) }] }
}

export function say(text: string, finish: Finish = 'normal'): Message {
  return { kind: 'message', text, finish }
}

/** An error as providers word it. */
export function failure(status: number, headers: Record<string, string> = {}, message = `scripted failure ${status}`): Page {
  return { kind: 'page', status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ error: { message } }) }
}

/** A page of any kind, with status 200 unless told. */
export function page(body: string, contentType: string | undefined, status = 200): Page {
  return { kind: 'page', status, headers: contentType === undefined ? {} : { 'content-type': contentType }, body }
}
