import { AsyncLocalStorage } from 'node:async_hooks'
import type { Fetch } from './transport.ts'

/** Lets a provider that is built once, with one `fetch`, send each request through a `fetch` of that request's own: to build one takes longer than to ask. */
export class Switchboard {
  readonly #current = new AsyncLocalStorage<Fetch>()

  /** What the provider is built with. */
  readonly fetch: Fetch = (input, init) => {
    const own = this.#current.getStore()
    if (own === undefined) throw new Error('a provider sends a request that nobody asked for')
    return own(input, init)
  }

  /** Everything that is sent while this works goes through the given `fetch`. */
  through<T>(fetch: Fetch, work: () => Promise<T>): Promise<T> {
    return this.#current.run(fetch, work)
  }
}
