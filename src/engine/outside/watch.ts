import { durationMs } from '../../contract/config/duration.ts'
import { taskStream } from '../streams.ts'
import { type Runner, settleRefused } from '../work/bench.ts'

/** Events by which an outside worker shows that it is there, or after which it has the word again. */
const signs = new Set(['attempt.started', 'attempt.beat', 'case.parse_error', 'checks.failed', 'worker.reminded'])

/** Looks whether an outside worker is still there. One that was not heard of for as long as its lease has lost the attempt, which is charged. */
export const watchWorker: Runner = async (bench, lease) => {
  const { journal, config, clock } = bench.parts
  const { task, attempt } = lease.payload as { task: string; attempt: number }
  const { state } = await bench.tasks.load(task)
  if (state?.status !== 'running' || state.attempts !== attempt || !state.current?.outside) return void (await journal.complete(lease))
  const last = (await journal.readStream(taskStream(task))).findLast((event) => signs.has(event.type))
  const left = Date.parse(last?.meta.at ?? '') + durationMs(config.limits.outsideLease) - clock.now()
  if (left > 0) return void (await journal.release(lease, left))
  const detail = `${state.current.worker} has not been heard of for ${config.limits.outsideLease}; what it did may be there in part`
  const command = { type: 'fail_attempt', attempt, failure: 'lease_lost', detail } as const
  await settleRefused(bench, lease, await bench.tasks.handle(task, command, { actor: 'runtime', settles: lease }))
}
