/** How often and after which pauses a request that failed is repeated. */
export interface Patience {
  retries: number
  /** The first pause; each further one is twice as long, up to the longest. */
  firstPauseMs: number
  longestPauseMs: number
}

/** Problems that may be over soon. Anything else that a server refuses, it would refuse again. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** The pause before a repetition: what the server asks for, or a growing one. Part of it is chance, so that many judges do not come back at once. */
export function pauseBefore(retry: number, patience: Patience, askedMs: number | undefined, random: () => number): number {
  const growing = Math.min(patience.longestPauseMs, patience.firstPauseMs * 2 ** retry)
  return Math.max(askedMs ?? 0, growing * (0.5 + random() / 2))
}
