import type { TaskCommand } from '../../contract/commands/task.ts'
import type { Result } from '../../contract/errors.ts'
import type { DoneFlag, TaskStatus } from '../../contract/task.ts'
import type { Score } from '../../contract/score.ts'
import { decidedBar, type TaskState } from '../../core/task/state.ts'
import { notTaken } from '../../core/task/decide.ts'
import { lookAtGates } from '../gates/gates.ts'
import { feedbackText, termsOf, workerPrompt } from '../prompts/worker.ts'
import { failingChecks } from '../work/attempt/talk.ts'
import { folderTaken, holdsFolder, stuckDetail } from '../work/attempt/folders.ts'
import { inputMaterial } from '../work/attempt/inputs.ts'
import { takeContent } from '../work/attempt/submission.ts'
import type { Bench } from '../work/bench.ts'
import { isLapsed } from './watch.ts'
import { isOutside } from './who.ts'

/** What a worker outside gets when it takes a task. */
export interface TakenTask {
  task: string
  attempt: number
  /** Everything that the worker is told, feedback on earlier attempts included. */
  prompt: string
  /** The folder to work in. */
  workspace: string
}

/** What became of a submitted case so far. */
export interface OutsideReview {
  task: string
  attempt: number
  status: TaskStatus
  /** `reviewing` until there is something for the worker to do or to know. */
  phase: 'reviewing' | 'rejected' | 'accepted' | 'held' | 'failed' | 'working'
  flag?: DoneFlag
  score?: Score
  bar: number
  /** What to do next, in words; on a rejection every point to address. */
  feedback: string
}

/**
 * A worker outside takes a task that is its own to do. Taking its own open attempt again (after a restart) goes on with it, unless it came back
 * too late for that.
 */
export async function takeTask(bench: Bench, task: string, worker: string): Promise<Result<TakenTask>> {
  const { parts, tasks } = bench
  const { state: before } = await tasks.load(task)
  const lapsed = !before?.spec.outside && before?.spec.assignee === worker && (await isLapsed(bench, before))
  const state = lapsed ? (await tasks.load(task)).state : before
  if (!state) return refused('not_found', `there is no task ${task}`)
  if (state.spec.outside) return refused('not_assignee', notTaken(task))
  if (!isOutside(parts.rules.policy, state.spec.assignee))
    return refused('not_assignee', `${task} is done by ${state.spec.assignee}, whom Assay starts itself`)
  if (state.spec.assignee !== worker) return refused('not_assignee', `${task} is ${state.spec.assignee}'s, not ${worker}'s`)
  const inputs = await inputMaterial(bench, state)
  const open = async (attempt: number, now: TaskState): Promise<Result<TakenTask>> => {
    const workspace = await parts.workspaces.open(state.spec, inputs)
    const prompt = workerPrompt(now, inputs, termsOf(parts.config))
    return { ok: true, value: { task, attempt, prompt, workspace: workspace.path } }
  }
  if (state.status === 'running' && state.current?.outside) return open(state.attempts, state)
  const gates = await lookAtGates(parts, state.spec.mission ?? '', state.spec.gates ?? [])
  if (gates.shut !== undefined) return refused('wrong_status', `${task} waits for the quality gate ${gates.shut}`)
  const folder = await holdsFolder(parts, state.spec)
  if (folder.kind === 'busy') return refused('wrong_status', `${folder.task} works in the same folder; try again when it has ended`)
  if (folder.kind === 'stuck') return refused('wrong_status', stuckDetail(folder))
  if (state.behind) await parts.workspaces.integration(state.spec)?.catchUp()
  const started = await tasks.handle(
    task,
    { type: 'start_attempt', worker, conversational: true, participants: [], sandboxed: false, outside: true },
    { actor: worker, alongside: () => [...folderTaken(folder, state.spec), ...gates.unmoved] },
  )
  if (!started.ok) return fromHandled(started.error)
  return open(started.state.attempts, started.state)
}

/** The worker is still there. Without a word for as long as its lease it loses the attempt. */
export async function beatTask(bench: Bench, task: string, worker: string): Promise<Result<{ attempt: number }>> {
  const { state } = await bench.tasks.load(task)
  if (state?.spec.outside) return refused('not_assignee', notTaken(task))
  const attempt = state?.attempts ?? 0
  if (state?.current?.worker === worker && (await isLapsed(bench, state))) return lost(bench, task, attempt)
  const handled = await bench.tasks.handle(task, { type: 'beat_attempt', attempt, worker }, { actor: worker })
  return handled.ok ? { ok: true, value: { attempt } } : fromHandled(handled.error)
}

/** Characters of a case that is too long which are written down. */
const mostShown = 4_096

export interface SubmittedCase {
  task: string
  worker: string
  attempt: number
  /** The case, as text: one JSON object. */
  raw: string
  /** What the worker printed or wrote, where that is the work. */
  output?: string
}

/** Takes the work as it lies in the workspace, and the case that is made for it. Problems with the case come back at once. */
export async function submitOutside(
  bench: Bench,
  { task, worker, attempt, raw, output = '' }: SubmittedCase,
): Promise<Result<{ problems: string[] }>> {
  const { state } = await bench.tasks.load(task)
  if (!state) return refused('not_found', `there is no task ${task}`)
  if (state.spec.outside) return refused('not_assignee', notTaken(task))
  if (state.current?.worker !== worker || !state.current.outside)
    return refused('not_assignee', `${worker} has not taken ${task}; take it first`)
  if (state.status !== 'running' || state.attempts !== attempt)
    return refused('stale_attempt', `attempt ${attempt} of ${task} is not open (it is ${state.status}, attempt ${state.attempts})`)
  if (await isLapsed(bench, state)) return lost(bench, task, attempt)
  const workspace = await bench.parts.workspaces.open(state.spec, await inputMaterial(bench, state))
  const taken = await takeContent(bench, state.spec, workspace, output)
  if (!taken.ok) return refused('bad_command', taken.detail)
  const { caseBytes } = bench.parts.config.limits
  const problems = [`the case is longer than ${caseBytes} bytes; make it shorter`]
  const command: TaskCommand =
    Buffer.byteLength(raw) > caseBytes
      ? { type: 'refuse_case', attempt, problems, raw: raw.slice(0, mostShown).toWellFormed() }
      : { type: 'submit_case', attempt, raw, content: taken.content }
  const handled = await bench.tasks.handle(task, command, { actor: worker })
  if (!handled.ok) return fromHandled(handled.error)
  const found = handled.events.flatMap((event) => (event.type === 'case.parse_error' ? event.data.problems : []))
  return { ok: true, value: { problems: found } }
}

/** Where the review of a task stands, in the worker's eyes. */
export async function outsideReview(bench: Bench, task: string): Promise<Result<OutsideReview>> {
  const { state } = await bench.tasks.load(task)
  if (!state) return refused('not_found', `there is no task ${task}`)
  const { status, spec, attempts, done, hold } = state
  const score = done?.score ?? state.decided.findLast((one) => one.attempt === attempts)?.decision.score
  const failing = status === 'running' ? ((await failingChecks(bench, state)) ?? '') : ''
  const phase = phaseOf(state, failing !== '')
  const feedback = {
    reviewing: 'Checks and judges are at work. Ask again.',
    working: 'The attempt is open: submit a case when the work is done.',
    rejected: failing || feedbackText(state),
    accepted: `Accepted (${done?.flag ?? ''}).`,
    held: `It waits: ${hold?.detail ?? ''}`,
    failed: state.ledger.at(-1)?.concern ?? 'The task has failed.',
  }[phase]
  return {
    ok: true,
    value: {
      task,
      attempt: attempts,
      status,
      phase,
      bar: score ? decidedBar(state) : spec.bar,
      feedback,
      ...(done && { flag: done.flag }),
      ...(score && { score }),
    },
  }
}

function phaseOf(state: TaskState, checksFail: boolean): OutsideReview['phase'] {
  switch (state.status) {
    case 'checking':
    case 'in_review':
      return 'reviewing'
    case 'running':
      return checksFail ? 'rejected' : 'working'
    case 'todo':
    case 'waiting':
      return state.feedback ? 'rejected' : 'working'
    case 'done':
      return 'accepted'
    case 'held':
      return 'held'
    default:
      return 'failed'
  }
}

function lost({ parts }: Bench, task: string, attempt: number): Result<never> {
  const silent = `nothing was heard of it for ${parts.config.limits.outsideLease}`
  return refused('stale_attempt', `attempt ${attempt} of ${task} was lost, and counts: ${silent}; take the task again`)
}

function refused(code: 'not_found' | 'not_assignee' | 'wrong_status' | 'stale_attempt' | 'bad_command', message: string): Result<never> {
  return { ok: false, error: { code, message } }
}

function fromHandled(error: { code: string; message: string }): Result<never> {
  const known = ['attempts_used_up', 'stale_attempt', 'not_assignee', 'policy_changed', 'inputs_incomplete'] as const
  const code = known.find((one) => one === error.code) ?? 'wrong_status'
  return { ok: false, error: { code, message: error.message } }
}
