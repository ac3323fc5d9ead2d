import { takeTurn, type Turn, type TurnRequest } from '../turn.ts'
import { type Patience, pauseBefore } from './patience.ts'
import { pause } from './timer.ts'

/** What bounds the asking. */
export interface Asking {
  patience: Patience
  signal: AbortSignal
  /** When it has to be over, on the monotonic clock, what is over then, and how long that may last. */
  endsAt: number
  whole: string
  wholeMs: number
  /** From 0 to 1; spreads repetitions. */
  random(): number
  /** An answer that cannot be used is asked for again too. */
  insists?: boolean
  /** Whether it may be asked again, after what asking has cost so far. */
  affordable?(): boolean
}

/** Asks, and asks again after a pause while there is hope and time. A question to a model has no effects: to repeat it is safe. */
export async function persist(request: TurnRequest, asking: Asking): Promise<Turn> {
  const { patience, signal } = asking
  for (let retry = 0; ; retry += 1) {
    const turn = await takeTurn(request, signal)
    const hopeful = turn.kind === 'failed' ? turn.passing : turn.kind === 'unusable' && asking.insists === true
    if (turn.kind === 'failed' && signal.aborted) return { ...turn, detail: `${asking.whole} was not over after ${asking.wholeMs} ms` }
    if (!hopeful || retry >= patience.retries || asking.affordable?.() === false) return turn
    const wait = pauseBefore(retry, patience, turn.kind === 'failed' ? turn.retryAfterMs : undefined, asking.random)
    if (performance.now() + wait >= asking.endsAt) return tooLate(turn, wait, asking.whole)
    await pause(wait, signal)
  }
}

function tooLate(turn: Turn, wait: number, whole: string): Turn {
  if (turn.kind !== 'failed') return turn
  return { ...turn, detail: `${turn.detail}; to ask again in ${Math.ceil(wait / 1_000)} s would be after the end of ${whole}` }
}
