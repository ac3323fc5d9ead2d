import type { TaskCommandOf } from '../../contract/commands/task.ts'
import type { Acceptance } from '../../contract/events/merge.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { raiseRequest } from './requests.ts'
import type { TaskState } from './state.ts'

/**
 * The last step to `done`. Work in a git worktree is merged and checked again first, and stays in review until then;
 * any other work is accepted here and now.
 */
export function finish(draft: Draft, acceptance: Acceptance): void {
  if (needsMerge(draft.state, acceptance.content)) draft.emit('merge.requested', { acceptance })
  else land(draft, acceptance)
}

function needsMerge(state: TaskState, content: string | null): boolean {
  if (state.spec.workspace.kind !== 'worktree' || content === null || state.merged === content) return false
  return (state.contents[content]?.paths.length ?? 0) > 0
}

function land(draft: Draft, acceptance: Acceptance): void {
  if (acceptance.kind === 'accepted') {
    const { kind: _kind, ...accepted } = acceptance
    return void draft.emit('task.accepted', accepted)
  }
  const { kind: _kind, request, ...forced } = acceptance
  draft.emit('task.force_accepted', forced)
  raiseRequest(draft, 'force_accepted', request)
}

export interface Sequel {
  /** Back to the worker, attempts being left. */
  sendBack(draft: Draft, rules: Rules): void
  attemptsLeft(state: TaskState, rules: Rules): number
  /** The review of content whose checks passed. */
  beginReview(draft: Draft, rules: Rules, nonce: string, suspicions: string[]): void
}

/** What the merge came to. It is published only where it is what was reviewed and every check passes on it. */
export function reportMerge(state: TaskState, command: TaskCommandOf<'report_merge'>, rules: Rules, sequel: Sequel): Decided {
  const { merging } = state
  const wanted = merging?.acceptance.content
  if (state.status !== 'in_review' || !merging || merging.merge || wanted !== command.content)
    return refuse('wrong_status', 'no such merge is awaited')
  const { attempt } = merging.acceptance
  const { result } = command
  const draft = new Draft(state)
  if (result.kind === 'conflict') {
    mergeFailed(draft, rules, { cause: 'conflict', detail: result.detail, paths: result.paths, reports: [] }, sequel)
    return draft.done()
  }
  const { commit, onto, content, reports } = result
  const failed = reports.filter((report) => report.outcome !== 'pass')
  if (failed.length > 0) {
    const detail = `After the merge checks do not pass: ${failed.map((report) => report.id).join(', ')}.`
    mergeFailed(draft, rules, { cause: 'checks', detail, paths: [], reports: failed }, sequel)
  } else if (content.digest !== wanted) {
    draft.emit('merge.changed', { attempt, content, reports })
    sequel.beginReview(draft, rules, command.nonce, command.suspicions)
  } else draft.emit('merge.checked', { attempt, content: wanted, commit, onto, reports })
  return draft.done()
}

/** The mission's branch was moved, or somebody else's work got there first: then the merge is made anew. */
export function confirmPublished(state: TaskState, command: TaskCommandOf<'confirm_published'>): Decided {
  const { merging } = state
  if (state.status !== 'in_review' || merging?.merge?.commit !== command.commit) return refuse('wrong_status', 'no such merge is awaited')
  const { acceptance } = merging
  const draft = new Draft(state)
  if (command.outcome === 'moved') return draft.emit('merge.requested', { acceptance }).done()
  draft.emit('merge.published', { attempt: acceptance.attempt, content: acceptance.content ?? '', commit: command.commit })
  land(draft, acceptance)
  return draft.done()
}

type Failure = Pick<TaskCommandOf<'report_checks'>, 'reports'> & { cause: 'conflict' | 'checks'; detail: string; paths: string[] }

/** Back to the worker, uncharged the first few times. With no attempt left the owner decides: nothing is done that is not merged. */
function mergeFailed(draft: Draft, rules: Rules, failure: Failure, { attemptsLeft, sendBack }: Sequel): void {
  const { merging, mergeFailures, givenBack } = draft.state
  const content = merging?.acceptance.content ?? ''
  const charged = mergeFailures >= rules.policy.review.maxMergeRetries || givenBack === draft.state.attempts
  draft.emit('merge.failed', { attempt: merging?.acceptance.attempt ?? draft.state.attempts, content, ...failure, charged })
  if (attemptsLeft(draft.state, rules) > 0) return sendBack(draft, rules)
  const detail = `the work was judged but cannot be merged, and the attempts are used up: ${failure.detail}`
  draft.emit('task.held', { reason: 'exhausted_unscored', from: draft.state.status, detail })
  raiseRequest(draft, 'held', detail)
}
