import type { TaskCommandOf } from '../../contract/commands/task.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { finish } from './merging.ts'
import { attemptsLeft, grantAttempt } from './rework.ts'
import { abandonReview, askUnavailableAgain, proceed, reaskOpenSeats, resumeReview } from './reviewing.ts'
import { attemptAtHand, decisionOn, submittedContent, type TaskState } from './state.ts'

/** The operator answers what was asked. */
export function answerRequest(state: TaskState, command: TaskCommandOf<'answer_request'>, rules: Rules): Decided {
  const { request, answer, by, reason } = command
  const open = state.requests.find((one) => one.request === request)
  if (!open) return refuse('not_found', `no open request ${request}: it was answered, or its cause ended`)
  if (!open.answers.includes(answer))
    return refuse('bad_answer', `${answer} is no answer to ${request}; possible: ${open.answers.join(', ')}`)
  if ((answer === 'accept' || answer === 'fail') && reason.trim() === '') return refuse('reason_required', `${answer} needs a reason`)
  if (answer === 'retry' && state.hold?.reason === 'stale_input')
    return refuse('wrong_status', 'an input is stale: the task goes on when it lands')
  const draft = new Draft(state).emit('operator.answered', { request, answer, by, reason })
  if (answer === 'accept') ownerAccept(draft, by, reason)
  else if (answer === 'fail') draft.emit('task.failed', { reason: `the owner: ${reason}` })
  else if (answer === 'retry') retry(draft, command, rules)
  return draft.done()
}

/** Retry repeats what was missing: the judges where only they failed, else the work, with one attempt granted. */
function retry(draft: Draft, command: TaskCommandOf<'answer_request'>, rules: Rules): void {
  const { hold, status } = draft.state
  const why = `the owner asked for another try${command.reason ? `: ${command.reason}` : ''}`
  if (status === 'done') {
    draft.emit('task.reopened', { by: command.by, reason: command.reason })
    grantAttempt(draft, rules, why)
  } else if (hold?.reason === 'judge_unavailable') {
    askUnavailableAgain(draft, command.nonce, rules)
  } else if (hold?.reason === 'unreadable' || hold?.reason === 'no_reviewer') {
    draft.emit('hold.lifted', { reason: hold.reason, to: 'in_review', why })
    resumeReview(draft, rules, command.nonce)
  } else if (hold && (hold.reason === 'budget' || hold.reason === 'operator')) {
    liftTo(draft, why, rules, command.nonce)
    if (draft.state.status === 'todo' && attemptsLeft(draft.state, rules) === 0) grantAttempt(draft, rules, why)
  } else if (hold) {
    draft.emit('hold.lifted', { reason: hold.reason, to: 'todo', why })
    grantAttempt(draft, rules, why)
  }
}

/** Back to where it was. A budget stopped calls before they were made, so those are made now; other calls went on during the hold. */
export function liftTo(draft: Draft, why: string, rules: Rules, nonce: string): void {
  const { hold } = draft.state
  if (!hold) return
  draft.emit('hold.lifted', { reason: hold.reason, to: hold.from, why })
  const { status, panel, restoring, merging } = draft.state
  if (status !== 'in_review') return
  if (restoring) return void draft.emit('restore.requested', restoring)
  if (merging) return void draft.emit('merge.requested', { acceptance: merging.acceptance })
  if (!panel) return resumeReview(draft, rules, nonce)
  if (hold.reason === 'budget') reaskOpenSeats(draft)
  proceed(draft, rules, nonce)
}

/** Owner-accepted, never clean: the flag says who decided. Standing vetoes are lifted by the owner, visibly. */
function ownerAccept(draft: Draft, by: string, reason: string): void {
  for (const { criterion, principal } of draft.state.vetoes) draft.emit('veto.lifted', { criterion, principal, by: 'owner' })
  const content = draft.state.done?.content ?? submittedContent(draft.state)?.digest ?? null
  const score = content === null ? undefined : (decisionOn(draft.state, content)?.decision.score ?? draft.state.done?.score)
  draft.emit('task.overruled', { outcome: 'pass', by, reason })
  finish(draft, {
    kind: 'accepted',
    flag: 'owner-accepted',
    attempt: attemptAtHand(draft.state),
    content,
    ...(score && { score }),
    why: `the owner: ${reason}`,
  })
}

/** The owner turns a decision, either way. */
export function overrule(state: TaskState, command: TaskCommandOf<'overrule_task'>, rules: Rules): Decided {
  const { outcome, by, reason } = command
  if (reason.trim() === '') return refuse('reason_required', 'an overrule needs a reason')
  const draft = new Draft(state)
  if (outcome === 'pass') {
    const decided =
      state.status === 'held' ||
      state.status === 'failed' ||
      state.status === 'todo' ||
      state.status === 'waiting' ||
      (state.status === 'done' && state.done?.flag !== 'clean')
    if (!decided || !(state.done?.content ?? submittedContent(state))) {
      return refuse(
        'wrong_status',
        `the task is ${state.status}${state.done ? ` (${state.done.flag})` : ''}: there is no decision on submitted work to turn into a pass`,
      )
    }
    ownerAccept(draft, by, reason)
    return draft.done()
  }
  if (state.status !== 'done') return refuse('wrong_status', `the task is ${state.status}: only an accepted task can be overruled to fail`)
  draft.emit('task.overruled', { outcome, by, reason })
  draft.emit('task.reopened', { by, reason })
  grantAttempt(draft, rules, `the owner overruled: ${reason}`)
  draft.emit('task.returned', { attempt: state.attempts, feedback: ownersFeedback(reason) })
  return draft.done()
}

function ownersFeedback(reason: string) {
  const points = [{ ref: 'P1', source: 'runtime' as const, from: 'owner', text: reason }]
  return { category: null, summary: `The owner overruled the decision: ${reason}`, points, reasoning: [], checks: [], notes: [] }
}

/** The owner, or a gate's retry, opens a finished task again, with one more attempt; one that never ran has all of its own. */
export function reopen(state: TaskState, command: TaskCommandOf<'reopen_task'>, rules: Rules): Decided {
  if (state.status !== 'done' && state.status !== 'failed' && state.status !== 'skipped')
    return refuse('wrong_status', `the task is ${state.status}, not finished`)
  const { by, reason } = command
  const draft = new Draft(state).emit('task.reopened', { by, reason })
  // One that was skipped while it waited still has the attempt that it was granted then.
  if (state.charged > 0 && (state.status !== 'skipped' || attemptsLeft(state, rules) === 0))
    grantAttempt(draft, rules, reason || 'reopened')
  return draft.done()
}

/** A changed policy takes over, on the owner's word. What is under review is reviewed again under it, uncharged. */
export function adoptPolicy(state: TaskState, command: TaskCommandOf<'adopt_policy'>, rules: Rules): Decided {
  if (rules.digest === state.policy) return refuse('wrong_status', 'this policy is in force already')
  const { bar, dimensions, checks, criteria, by, nonce } = command
  const { hold, spec } = state
  if (!spec.outside && !rules.policy.agents[spec.assignee])
    return refuse('bad_command', `the new policy has no agent ${spec.assignee}, who does this task`)
  const draft = new Draft(state)
  abandonReview(draft, rules, 'policy_changed')
  draft.emit('policy.adopted', { policy: rules.digest, bar, dimensions, checks, ...(criteria && { criteria }), by })
  const reviewable = hold?.reason === 'judge_unavailable' || hold?.reason === 'no_reviewer'
  if (hold && reviewable) draft.emit('hold.lifted', { reason: hold.reason, to: 'in_review', why: 'the policy changed' })
  if (draft.state.status === 'in_review') resumeReview(draft, rules, nonce)
  return draft.done()
}

/**
 * What was accepted clean is judged once more as it is, under the policy in force: no attempt is begun, none is charged. Work that a pass under
 * this policy stands on needs none.
 */
export function judgeAgain(state: TaskState, { nonce, reason }: TaskCommandOf<'judge_again'>, rules: Rules): Decided {
  const content = state.done?.content
  if (state.status !== 'done' || state.done?.flag !== 'clean' || !content || submittedContent(state)?.digest !== content)
    return refuse('wrong_status', `the task is ${state.done?.flag ?? state.status}: only work that was accepted clean is judged again`)
  if (decisionOn(state, content)) return refuse('wrong_status', 'it was decided under the policy in force')
  const draft = new Draft(state).emit('task.reopened', { by: 'runtime', reason })
  resumeReview(draft, rules, nonce)
  return draft.done()
}
