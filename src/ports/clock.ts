/** Time, so that tests and simulations can bring their own. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number
  /** Never goes back; for intervals. */
  monotonic(): number
}
/** Randomness, so that a run can be repeated. */
export interface Random {
  id(): string
  /** Not guessable by a worker. */
  nonce(): string
}
