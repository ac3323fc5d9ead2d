import type { TaskCommand, TaskCommandOf } from '../../contract/commands/task.ts'
import { rulesFor } from './terms.ts'
import { principalOf } from '../routing/principal.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { evolve } from './evolve/evolve.ts'
import { inputLanded, inputReopened, ready } from './inputs.ts'
import { adoptPolicy, answerRequest, judgeAgain, overrule, reopen } from './operator.ts'
import { confirmPublished, reportMerge } from './merging.ts'
import { beginReview, recordReply, recordUnavailable, retryReview } from './reviewing.ts'
import { attemptsLeft, end, forceAcceptOn, sendBack } from './rework.ts'
import { raiseRequest } from './requests.ts'
import { decisionOn, type MaybeTask, type TaskState } from './state.ts'
import { openAttempt, keepConversation, recordCall, reportChecks, reportQuiet, submitCase } from './submit.ts'

/**
 * The one way a task moves: state and command in, events or a refusal out. No await, no clock, no store.
 * One command is one decision: all its events are appended together, or none.
 */
export function decide(state: MaybeTask, command: TaskCommand, rules: Rules): Decided {
  if (command.type === 'create_task') return state ? refuse('already_exists', `task ${state.spec.id} exists`) : create(command, rules)
  if (!state) return refuse('not_found', 'there is no such task')
  if (command.type === 'count_usage') return countUsage(state, command)
  const own = rulesFor(state.spec, rules)
  if (command.type === 'adopt_policy') return readyOrEnded(state, adoptPolicy(state, command, own), own)
  const ownersEnd = command.type === 'fail_task' && command.by !== undefined
  if (rules.digest !== state.policy && !ownersEnd)
    return refuse('policy_changed', 'the task was begun under another policy; the owner must accept the change first')
  return readyOrEnded(state, decideOnTask(state, command, own), own)
}

/**
 * Whatever brought the task to `todo`: where it was not told of its inputs for a while, it waits to be given what they are by now; with no attempt
 * left nobody could take it, so it ends here, honestly.
 */
function readyOrEnded(before: TaskState, decided: Decided, rules: Rules): Decided {
  if (!decided.ok) return decided
  const draft = new Draft(before, decided.value)
  const { status, untold, spec } = draft.state
  if (status === 'todo' && untold && spec.dependsOn.length > 0) return draft.emit('task.unreadied', {}).done()
  if (draft.state.status === 'todo' && attemptsLeft(draft.state, rules) === 0) end(draft, rules, 'exhausted')
  return draft.done()
}

/** Those that are decided on a task as it is, under the policy that it was begun under. */
type OnTask = Exclude<TaskCommand, { type: 'create_task' | 'adopt_policy' | 'count_usage' }>

function decideOnTask(state: TaskState, command: OnTask, rules: Rules): Decided {
  switch (command.type) {
    case 'ready_task':
      return ready(state, command)
    case 'block_task':
    case 'skip_task':
      return keepFromRunning(state, command)
    case 'start_attempt':
      return startAttempt(state, command, rules)
    case 'join_attempt':
      return join(state, command)
    case 'beat_attempt':
      return beat(state, command)
    case 'record_delegations':
      return recordDelegations(state, command)
    case 'submit_case':
    case 'refuse_case':
      return submitCase(state, command, rules)
    case 'begin_call':
    case 'end_call':
      return recordCall(state, command)
    case 'keep_conversation':
      return keepConversation(state, command)
    case 'report_quiet':
      return reportQuiet(state, command, rules)
    case 'fail_attempt':
    case 'interrupt_attempt':
    case 'stop_attempt':
      return endAttempt(state, command, rules)
    case 'report_checks':
      return reportChecks(state, command, rules)
    case 'record_reply':
      return recordReply(state, command, rules)
    case 'record_unavailable':
      return recordUnavailable(state, command, rules)
    case 'retry_review':
      return retryReview(state, command.nonce, rules)
    case 'report_merge':
      return reportMerge(state, command, rules, { sendBack, attemptsLeft, beginReview })
    case 'confirm_published':
      return confirmPublished(state, command)
    case 'confirm_restored':
      return confirmRestored(state, command)
    case 'hold_task':
      return hold(state, command)
    case 'fail_task':
      return fail(state, command)
    case 'input_reopened':
      return inputReopened(state, command)
    case 'input_landed':
      return inputLanded(state, command, rules)
    case 'answer_request':
      return answerRequest(state, command, rules)
    case 'overrule_task':
      return overrule(state, command, rules)
    case 'reopen_task':
      return reopen(state, command, rules)
    case 'judge_again':
      return judgeAgain(state, command, rules)
    case 'reset_task':
      return new Draft(state).emit('task.reset', { by: command.by, reason: command.reason }).done()
  }
}

function fail(state: TaskState, { reason }: TaskCommandOf<'fail_task'>): Decided {
  if (isFinished(state)) return refuse('wrong_status', `the task is ${state.status} already`)
  return new Draft(state).emit('task.failed', { reason }).done()
}

/** A gate that it waits for is shut again, or what it waits for will never come. */
function keepFromRunning(state: TaskState, command: TaskCommandOf<'block_task' | 'skip_task'>): Decided {
  if (command.type === 'block_task')
    return state.status === 'todo' && state.spec.gates?.includes(command.gate)
      ? new Draft(state).emit('task.blocked', { gate: command.gate }).done()
      : refuse('wrong_status', `the task is ${state.status}, or does not wait for the gate ${command.gate}`)
  return state.status === 'waiting'
    ? new Draft(state).emit('task.skipped', { because: command.because }).done()
    : refuse('wrong_status', `the task is ${state.status}, not waiting`)
}

export function isFinished(state: TaskState): boolean {
  return state.status === 'done' || state.status === 'failed' || state.status === 'skipped'
}

function create(command: TaskCommandOf<'create_task'>, rules: Rules): Decided {
  const { spec } = command
  if (!spec.outside && !Object.hasOwn(rules.policy.agents, spec.assignee))
    return refuse('bad_command', `${spec.assignee} is no agent of this organisation`)
  const created = { type: 'task.created' as const, data: { spec, policy: rules.digest } }
  const state = evolve(undefined, created)
  if (!state || spec.dependsOn.length > 0 || (spec.gates ?? []).length > 0) return { ok: true, value: [created] }
  return { ok: true, value: [created, ...new Draft(state).emit('task.readied', { inputs: [] }).events] }
}

/** Durable before the worker is spawned: a second delivery finds the attempt open and does not run it again. */
/** Work that is brought whole, by whoever made it, to a task that stands for it alone: a worker that took the task would answer for other bytes. */
export const notTaken = (task: string): string =>
  `${task} is nobody's to take: it stands for work that is brought to be reviewed, as a deliverable, a session of a coding agent or a review of files`

function startAttempt(state: TaskState, command: TaskCommandOf<'start_attempt'>, rules: Rules): Decided {
  const { worker, conversational, participants, sandboxed, work, outside } = command
  if (state.status !== 'todo') return refuse('wrong_status', `the task is ${state.status}, not todo`)
  if (worker !== state.spec.assignee) return refuse('not_assignee', `${worker} is not the assignee (${state.spec.assignee})`)
  if (state.spec.outside && conversational) return refuse('not_assignee', notTaken(state.spec.id))
  if (attemptsLeft(state, rules) === 0) return refuse('attempts_used_up', `all ${state.charged} attempts are used up`)
  const { agents, brains } = rules.policy
  const principal = principalOf(worker, { agents, brains })
  const attempt = state.attempts + 1
  const whence = { ...(work !== undefined && { work }), ...(outside && { outside }) }
  const started = { attempt, worker, principal, conversational, participants, sandboxed, ...whence }
  return new Draft(state).emit('attempt.started', started).done()
}

/** The turn ended without a case: it failed (charged), was cut off by a crash (charged), or was stopped cleanly (not charged). */
function endAttempt(
  state: TaskState,
  command: TaskCommandOf<'fail_attempt' | 'interrupt_attempt' | 'stop_attempt'>,
  rules: Rules,
): Decided {
  const { attempt, detail } = command
  // Failed from outside, for its deadline or on the owner's word, before anybody noticed that its turn had been cut off: that is recorded all the same.
  const late = command.type === 'interrupt_attempt' && state.status === 'failed' && state.current?.cutOff === true
  const open = openAttempt(late ? { ...state, status: 'running' } : state, attempt)
  if (!open.ok) return open
  const draft = new Draft(state)
  if (command.type === 'stop_attempt') {
    const { usage } = command
    return draft.emit('attempt.stopped', { attempt, detail, ...(usage && { worker: open.current.worker, usage }) }).done()
  }
  if (command.type === 'interrupt_attempt') {
    const { callOpen, used, worker, counted } = open.current
    draft.emit('attempt.interrupted', { attempt, detail, ...(callOpen && used && !counted && { worker, usage: used }) })
    if (!late) sendBack(draft, rules)
    return draft.done()
  }
  const { failure, output, usage } = command
  draft.emit('attempt.failed', { attempt, failure, detail, ...(output !== undefined && { output }), ...(usage && { usage }) })
  sendBack(draft, rules)
  return draft.done()
}

/** An attempt is counted once, and only where nothing can tell of it any more; every sitting of a judge is one of its own. */
function countUsage(state: TaskState, { as, agent, attempt, usage }: TaskCommandOf<'count_usage'>): Decided {
  if (as === 'working') {
    if (attempt !== state.current?.attempt) return refuse('stale_attempt', `attempt ${attempt} is not the latest (${state.attempts})`)
    const goesOn = state.status === 'running' || state.status === 'checking' || state.status === 'in_review'
    if (goesOn || state.current.counted) return refuse('wrong_status', `attempt ${attempt} goes on, or is counted`)
  }
  return new Draft(state).emit('usage.counted', { as, agent, attempt, usage }).done()
}

function join(state: TaskState, { attempt, participant }: TaskCommandOf<'join_attempt'>): Decided {
  const open = openAttempt(state, attempt)
  return open.ok ? new Draft(state).emit('attempt.joined', { attempt, participant }).done() : open
}

function beat(state: TaskState, { attempt, worker }: TaskCommandOf<'beat_attempt'>): Decided {
  const open = openAttempt(state, attempt)
  if (!open.ok) return open
  if (open.current.worker !== worker) return refuse('not_assignee', `${worker} does not do this attempt`)
  if (state.spec.outside) return refuse('not_assignee', notTaken(state.spec.id))
  return new Draft(state).emit('attempt.beat', { attempt }).done()
}

/** Accepted work hands on what it proposed; work below the bar does not, until the owner accepts it. Each content does so once. */
function recordDelegations(state: TaskState, { content, delegated, refused }: TaskCommandOf<'record_delegations'>): Decided {
  if (state.status !== 'done' || state.done?.content !== content || state.done.flag === 'below-threshold')
    return refuse('wrong_status', 'only accepted work hands on what it proposed')
  if (state.fannedOut.includes(content)) return refuse('already_exists', 'what this content proposed was handed on already')
  return new Draft(state).emit('task.delegated', { content, delegated, refused }).done()
}

function confirmRestored(state: TaskState, command: TaskCommandOf<'confirm_restored'>): Decided {
  const { restoring } = state
  if (state.status !== 'in_review' || restoring?.content !== command.content)
    return refuse('wrong_status', 'no such snapshot is being restored')
  const candidate = decisionOn(state, restoring.content)
  if (!candidate) return refuse('not_found', 'there is no decision on the restored content')
  const draft = new Draft(state)
  forceAcceptOn(draft, candidate, restoring.why)
  return draft.done()
}

function hold(state: TaskState, command: TaskCommandOf<'hold_task'>): Decided {
  if (state.status !== 'todo' && state.status !== 'checking' && state.status !== 'in_review') {
    return refuse('wrong_status', `the task is ${state.status} and cannot be held`)
  }
  const draft = new Draft(state).emit('task.held', { reason: command.reason, from: state.status, detail: command.detail })
  raiseRequest(draft, 'held', command.detail)
  return draft.done()
}
