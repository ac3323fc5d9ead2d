import { broken, type CheckResult } from './result.ts'

const longestTimer = 2 ** 31 - 1

/** Runs a check for no longer than it may take. It gets a signal to end by; if it does not, nobody waits for it. */
export async function withDeadline(
  timeoutMs: number,
  signal: AbortSignal,
  run: (until: AbortSignal) => Promise<CheckResult>,
): Promise<CheckResult> {
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, longestTimer))
  const until = AbortSignal.any([signal, deadline])
  let end: () => void = () => undefined
  const ended = new Promise<CheckResult>((resolve) => {
    end = () => resolve(broken(signal.aborted ? 'stopped before it ended' : `ended after its time limit of ${timeoutMs} ms`))
    until.addEventListener('abort', end)
  })
  return await Promise.race([run(until), ended]).finally(() => until.removeEventListener('abort', end))
}
