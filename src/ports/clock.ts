/** Time, so that tests and simulations can bring their own. */
export interface Clock {
  /** Epoch milliseconds: the wall clock as this process found it, and what has passed since. Setting the wall clock does not move it. */
  now(): number
  /** The wall clock as it is set at this moment; for points in time that people name. */
  wall(): number
}
/** Randomness, so that a run can be repeated. */
export interface Random {
  id(): string
  /** Not guessable by a worker. */
  nonce(): string
}
