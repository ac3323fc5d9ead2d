import { durationMs } from '../../contract/config/duration.ts'
import type { Lease } from '../../contract/work.ts'
import type { TaskState } from '../../core/task/state.ts'
import { taskStream } from '../streams.ts'
import { type Bench, type Runner, settleRefused } from '../work/bench.ts'

/** Events by which an outside worker shows that it is there, or after which it has the word again. */
const signs = new Set(['attempt.started', 'attempt.beat', 'case.parse_error', 'checks.failed', 'worker.reminded'])

/** Looks whether an outside worker is still there. One that was not heard of for as long as its lease has lost the attempt, which is charged. */
export const watchWorker: Runner = async (bench, lease) => {
  const { journal } = bench.parts
  const { task, attempt } = lease.payload as { task: string; attempt: number }
  const { state } = await bench.tasks.load(task)
  if (!hasAttemptOutside(state) || state.attempts !== attempt) return void (await journal.complete(lease))
  const left = await leaseLeft(bench, state)
  if (left > 0) return void (await journal.release(lease, left))
  await settleRefused(bench, lease, await loseAttempt(bench, state, lease))
}

/**
 * True where the open attempt of a worker outside had lapsed; then it is lost from here on. Whoever comes back is told, also where no process
 * was there to look meanwhile.
 */
export async function isLapsed(bench: Bench, state: TaskState | undefined): Promise<boolean> {
  if (!hasAttemptOutside(state) || (await leaseLeft(bench, state)) > 0) return false
  await loseAttempt(bench, state)
  return true
}

type AttemptOutside = TaskState & { current: NonNullable<TaskState['current']> }

const hasAttemptOutside = (state: TaskState | undefined): state is AttemptOutside =>
  state?.status === 'running' && state.current?.outside === true

/** Milliseconds for which the worker may still be silent. */
async function leaseLeft({ parts }: Bench, state: TaskState): Promise<number> {
  const last = (await parts.journal.readStream(taskStream(state.spec.id))).findLast((event) => signs.has(event.type))
  return Date.parse(last?.meta.at ?? '') + durationMs(parts.config.limits.outsideLease) - parts.clock.now()
}

/** Refused where somebody else ended the attempt first. */
function loseAttempt(bench: Bench, { spec, attempts, current }: AttemptOutside, settles?: Lease): ReturnType<Bench['tasks']['handle']> {
  const detail = `${current.worker} has not been heard of for ${bench.parts.config.limits.outsideLease}; what it did may be there in part`
  const command = { type: 'fail_attempt', attempt: attempts, failure: 'lease_lost', detail } as const
  return bench.tasks.handle(spec.id, command, { actor: 'runtime', ...(settles && { settles }) })
}
