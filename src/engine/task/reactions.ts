import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { NewWork, WorkKind } from '../../contract/work.ts'
import { isHandedByCall } from '../../core/delegation/plan.ts'
import type { TaskState } from '../../core/task/state.ts'
import { taskStream } from '../streams.ts'

/** Waits between automatic retries of judges that could not be reached. */
const retryDelaysMs = [2_000, 5_000, 15_000, 60_000]

const backToTodo = new Set<AssayEvent['type']>(['task.readied', 'task.returned', 'task.reopened', 'attempt.stopped', 'hold.lifted'])
/** After an ending a deliverable is shown to the owner, or its failure is; open again, what was shown counts no longer. */
const handsOver = new Set<AssayEvent['type']>(['task.accepted', 'task.force_accepted', 'task.failed', 'task.reopened'])
const endings = new Set<AssayEvent['type']>(['task.accepted', 'task.force_accepted', 'task.failed', 'task.skipped'])
/** Whoever it concerns hears of it; and a task that waits looks whether what it waits for has come meanwhile, or never will. */
const looksAgain = new Set<AssayEvent['type']>(['task.reopened', 'task.blocked', 'task.unreadied'])

/**
 * The work that a decision's events call for; enqueued in the same transaction. Pure.
 * `firstVersion` is the version that the first of the events gets; it makes the key of the work, so that a repeated append enqueues nothing twice.
 */
export function reactions(events: readonly AssayEvent[], firstVersion: number, after: TaskState): NewWork[] {
  const task = after.spec.id
  const work: NewWork[] = []
  const enqueue = (kind: WorkKind, version: number, payload: object = {}, delayMs?: number) => {
    work.push({
      key: `${taskStream(task)}@${version}:${kind}${work.length}`,
      kind,
      scope: after.spec.mission ?? '',
      priority: after.spec.priority,
      payload: { task, ...payload },
      ...(delayMs !== undefined && { delayMs }),
    })
  }
  const lastVersion = firstVersion + events.length - 1
  for (const [index, event] of events.entries()) {
    const version = firstVersion + index
    if (event.type === 'seat.asked')
      enqueue('ask_judge', version, { review: event.data.review, seat: event.data.seat, round: event.data.round })
    if (event.type === 'restore.requested')
      enqueue('restore_snapshot', version, { attempt: event.data.attempt, content: event.data.content })
    if (event.type === 'merge.requested') enqueue('merge_work', version, { content: event.data.acceptance.content })
    if (event.type === 'merge.checked') enqueue('publish_merge', version, { commit: event.data.commit })
    const heldForJudges = event.type === 'task.held' || (event.type === 'hold.lifted' && event.data.to === 'held')
    // Whoever handed it down was told that it is held: it stays so until the operator answers.
    if (heldForJudges && after.hold?.reason === 'judge_unavailable' && !isHandedByCall(after.spec))
      enqueue('retry_review', version, {}, retryDelay(after))
  }
  const types = events.map((event) => event.type)
  if (after.status === 'todo' && types.some((type) => backToTodo.has(type))) enqueue('run_attempt', lastVersion)
  if (
    after.status === 'checking' &&
    types.some((type) => type === 'case.submitted' || type === 'checks.requested' || type === 'hold.lifted')
  ) {
    enqueue('run_checks', lastVersion, { attempt: after.current?.attempt ?? after.attempts, submission: after.current?.submission ?? 1 })
  }
  // A conversational worker whose checks fail goes on with the same attempt.
  if (after.status === 'running' && !after.current?.outside && types.includes('checks.failed'))
    enqueue('run_attempt', lastVersion, { resumes: after.current?.submission ?? 1 })
  // An outside worker is looked after from its start, and again whenever it has the word.
  if (after.status === 'running' && after.current?.outside) enqueue('watch_worker', lastVersion, { attempt: after.attempts })
  if (after.status === 'done' && types.includes('task.accepted') && (after.current?.case?.delegations ?? []).length > 0)
    enqueue('fan_out', lastVersion)
  if (after.spec.deliverable !== undefined && types.some((type) => handsOver.has(type))) enqueue('hand_over', lastVersion)
  const freesFolder = after.spec.workspace.kind === 'folder' && types.includes('task.held')
  // Finished work whose input is open again counts no longer: gates that it passed are shut, and whoever was given it waits.
  const staleNow = events.some(({ type, data }) => type === 'task.held' && data.reason === 'stale_input' && data.from === 'done')
  // A finished task that only waited for a stale input is finished again: whoever waits for it must hear so.
  const finishedAgain = after.status === 'done' && types.includes('hold.lifted')
  if (finishedAgain && after.spec.deliverable !== undefined) enqueue('hand_over', lastVersion, { again: true })
  if (freesFolder || staleNow || finishedAgain || types.some((type) => endings.has(type) || looksAgain.has(type)))
    enqueue('settle_dependents', lastVersion)
  return work
}

function retryDelay(state: TaskState): number {
  const rounds = Math.max(0, ...(state.panel?.seats.map((seat) => seat.round) ?? []))
  return retryDelaysMs[Math.min(Math.max(rounds - 1, 0), retryDelaysMs.length - 1)] as number
}
