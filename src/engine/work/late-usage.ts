import { readEvent } from '../../contract/events/read.ts'
import type { Usage } from '../../contract/verdict.ts'
import type { TaskState } from '../../core/task/state.ts'
import { taskStream } from '../streams.ts'
import type { Bench } from './bench.ts'

/** Its turn goes on, or its case was taken. */
const isGoingOn: ReadonlySet<TaskState['status']> = new Set(['running', 'checking', 'in_review'])

/**
 * Counts what a worker used whose task was ended in the middle of its turn: what it brings is not taken any more, and nothing else tells of it. Without a
 * figure of its own, what its last tool call was begun with.
 */
export async function countLateWork(bench: Bench, { spec, attempts }: TaskState, usage: Usage | undefined): Promise<void> {
  const { state } = await bench.tasks.load(spec.id)
  const current = state?.current
  if (!state || isGoingOn.has(state.status) || current?.attempt !== attempts || current.counted) return
  const used = usage ?? (current.callOpen ? current.used : undefined)
  if (!used || (await isTold(bench, spec.id, attempts))) return
  const counted = { type: 'count_usage', as: 'working', agent: current.worker, attempt: attempts, usage: used } as const
  await bench.tasks.handle(spec.id, counted, { actor: 'runtime' })
}

/** Events after which a turn goes on, with what it used still to be told. */
const openEnded: ReadonlySet<string> = new Set([
  'attempt.started',
  'call.begun',
  'call.ended',
  'conversation.kept',
  'worker.reminded',
  'checks.failed',
])

/** Whether what came of the attempt since its turn last went on says what it used, or is a case that was taken. */
async function isTold(bench: Bench, task: string, attempt: number): Promise<boolean> {
  const events = (await bench.parts.journal.readStream(taskStream(task))).map(readEvent)
  const own = events.filter(({ data }) => 'attempt' in data && data.attempt === attempt)
  const since = own.slice(own.findLastIndex(({ type }) => openEnded.has(type)) + 1)
  return since.some(({ type, data }) => type === 'case.submitted' || 'usage' in data)
}

/** The same for a judge whose answer nobody waits for any more. */
export async function countLateJudge(bench: Bench, { spec, attempts }: TaskState, agent: string, usage: Usage | undefined): Promise<void> {
  if (!usage || attempts === 0) return
  const counted = { type: 'count_usage', as: 'judging', agent, attempt: attempts, usage } as const
  await bench.tasks.handle(spec.id, counted, { actor: 'runtime' })
}
