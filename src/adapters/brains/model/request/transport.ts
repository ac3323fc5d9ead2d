export type Fetch = typeof globalThis.fetch

/** Node's own fetch gives up after five minutes of silence, whatever the configuration says. */
const builtInLimitMs = 290_000

/** A fetch that waits as long as the configuration wants. The usual one is Node's own; only for more patience is another one loaded. */
export async function openTransport(longestMs: number): Promise<{ fetch: Fetch; close(): Promise<void> }> {
  if (longestMs < builtInLimitMs) return { fetch: globalThis.fetch, close: () => Promise.resolve() }
  const undici = await import('undici')
  const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const patient = (input: string, init: Parameters<typeof undici.fetch>[1]) => undici.fetch(input, { ...init, dispatcher })
  return { fetch: patient as unknown as Fetch, close: () => dispatcher.destroy() }
}
