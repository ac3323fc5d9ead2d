/** Addresses of a name. Throws as `dns.lookup` does where there are none. */
export type Lookup = (name: string) => Promise<readonly { address: string }[]>

/** What one request, redirects included, may do. */
export interface FetchRules {
  /** Hosts that may be asked: `example.com`, `*.example.com` (every name below it), with `:8080` for one port alone. Without it, any public one. */
  hosts?: readonly string[]
  /** Lets addresses be private or of this machine. Link-local ones, where clouds keep their keys, stay refused. */
  allowPrivate?: boolean
  /** Scheme, address and port that we serve ourselves: may be asked whatever the other rules say. */
  ownOrigin?: string
  /** Redirects that are followed; without it, none, and the redirect is the answer. */
  redirects?: number
  /** Milliseconds for all of it: names, connections, redirects and the body. */
  timeoutMs: number
  /** Most bytes of the body once it is unpacked. */
  maxBytes?: number
  /** Most bytes of an answer's headers. */
  maxHeaderBytes?: number
  /** Who knows the addresses of names; without it, the system. */
  lookup?: Lookup
}

export const fetchDefaults = { maxBytes: 16 * 1024 * 1024, maxHeaderBytes: 32 * 1024, longestUrl: 8192, mostAddresses: 32 }

export type FetchFailureCode =
  /** No http or https address, or one with a user name in it. */
  | 'bad_url'
  /** A host that the rules do not list. */
  | 'host_refused'
  /** An address that the rules do not allow, or that is none. */
  | 'address_refused'
  /** The name has no address. */
  | 'unresolved'
  /** No connection, or it broke before the answer was complete. */
  | 'no_answer'
  | 'headers_too_large'
  | 'body_too_large'
  /** Packed in a way that cannot be unpacked. */
  | 'bad_encoding'
  | 'too_many_redirects'
  | 'timed_out'
  /** Whoever asked wanted to know no longer. */
  | 'stopped'

/** One request of the chain; `address` is what the connection was pinned to. */
export interface Hop {
  url: string
  addresses: readonly string[]
  status?: number
}

export interface FetchFailure {
  ok: false
  code: FetchFailureCode
  /** One line for people, without a full stop. */
  message: string
  hops: readonly Hop[]
}

export interface Fetched {
  ok: true
  /** Where the answer came from in the end. */
  url: string
  status: number
  /** By name in lower case; repeated ones joined by a comma. */
  headers: ReadonlyMap<string, string>
  /** Unpacked. */
  body: Buffer
  hops: readonly Hop[]
}

export type FetchRefusal = Pick<FetchFailure, 'code' | 'message'>

export function refusal(code: FetchFailureCode, message: string): FetchRefusal {
  return { code, message }
}
