import { checkId } from '../../contract/check.ts'
import type { TaskCommandOf } from '../../contract/commands/task.ts'
import type { Usage } from '../../contract/verdict.ts'
import { emptyIsRejected, implicitCase, readCase } from '../case/read.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { beginReview } from './reviewing.ts'
import { sendBack } from './rework.ts'
import { attemptAtHand, type AttemptState, type TaskState } from './state.ts'

/** The open attempt that a command speaks of, or why there is none. */
export function openAttempt(state: TaskState, attempt: number): { ok: true; current: AttemptState } | ReturnType<typeof refuse> {
  if (!state.current || attempt !== state.current.attempt)
    return refuse('stale_attempt', `attempt ${attempt} is not the latest (${state.attempts})`)
  if (state.status !== 'running') return refuse('wrong_status', `the task is ${state.status}: attempt ${attempt} is not open`)
  return { ok: true, current: state.current }
}

/** A worker says that it is done, in words that can be read as a case or not. */
export function submitCase(state: TaskState, command: TaskCommandOf<'submit_case' | 'refuse_case'>, rules: Rules): Decided {
  const open = openAttempt(state, command.attempt)
  if (!open.ok) return open
  if (command.type === 'refuse_case') return caseError(new Draft(state), command, command.problems, rules)
  if (command.raw === null && open.current.conversational) return refuse('bad_command', 'a conversational worker submits its case itself')
  const { attempt, content } = command
  const draft = new Draft(state)
  const read = command.raw === null ? { ok: true as const, case: implicitCase(content) } : readCase(command.raw, state.spec.criteria)
  if (!read.ok) return caseError(draft, command, read.problems, rules)
  draft.emit('case.submitted', {
    attempt,
    submission: open.current.submission + 1,
    case: read.case,
    implicit: command.raw === null,
    content,
    ...(command.usage && { usage: command.usage }),
    ...(command.conversation !== undefined && { conversation: command.conversation }),
  })
  if (emptyIsRejected(state.spec, content)) reject(draft, rules, 'empty', 'There is no output and no change: nothing was delivered.')
  return draft.done()
}

function caseError(draft: Draft, command: TaskCommandOf<'submit_case' | 'refuse_case'>, problems: string[], rules: Rules): Decided {
  const current = draft.state.current
  const { attempt, conversation, usage } = command
  draft.emit('case.parse_error', { attempt, problems, raw: command.raw ?? '', ...(conversation && { conversation }) })
  const mayRetry = current?.conversational && current.caseErrors < rules.policy.review.maxCaseErrors
  if (!mayRetry) reject(draft, rules, 'case', `The case could not be read: ${problems.join('; ')}`, { usage })
  return draft.done()
}

/** A conversational worker uses tools one after the other; each is written down before and after. */
export function recordCall(state: TaskState, command: TaskCommandOf<'begin_call' | 'end_call'>): Decided {
  const open = openAttempt(state, command.attempt)
  if (!open.ok) return open
  const { attempt, conversation } = command
  const { calls, callOpen, conversational } = open.current
  if (!conversational) return refuse('bad_command', 'only a conversational worker says which tools it uses')
  if (callOpen === (command.type === 'begin_call')) return refuse('wrong_status', callOpen ? 'a tool call is open' : 'no tool call is open')
  const draft = new Draft(state)
  if (command.type === 'begin_call') {
    const { tool, usage } = command
    draft.emit('call.begun', { attempt, call: calls + 1, tool, conversation, ...(usage && { usage }) })
  } else draft.emit('call.ended', { attempt, call: calls, conversation })
  return draft.done()
}

/** Nothing is kept while a call is open: what was said until then is, and its answer is not there yet. */
export function keepConversation(state: TaskState, { attempt, conversation }: TaskCommandOf<'keep_conversation'>): Decided {
  const open = openAttempt(state, attempt)
  if (!open.ok) return open
  if (!open.current.conversational) return refuse('bad_command', 'only a conversational worker has a conversation')
  if (open.current.callOpen) return refuse('wrong_status', 'a tool call is open')
  return new Draft(state).emit('conversation.kept', { attempt, conversation }).done()
}

/** Going quiet is not a case: one reminder, then the attempt is rejected. */
export function reportQuiet(state: TaskState, command: TaskCommandOf<'report_quiet'>, rules: Rules): Decided {
  const open = openAttempt(state, command.attempt)
  if (!open.ok) return open
  if (!open.current.conversational)
    return refuse('bad_command', 'only a conversational worker can go quiet; a one-shot worker ends its turn')
  const draft = new Draft(state)
  const { attempt, conversation } = command
  if (!open.current.reminded) draft.emit('worker.reminded', { attempt, ...(conversation && { conversation }) })
  else reject(draft, rules, 'quiet', 'The worker ended its turn twice without submitting a case.', { usage: command.usage })
  return draft.done()
}

/** The mechanical checks came back. Any that did not clearly pass keeps the work from the judges. */
export function reportChecks(state: TaskState, command: TaskCommandOf<'report_checks'>, rules: Rules): Decided {
  const { attempt, submission, reports } = command
  const { current } = state
  if (!current || attempt !== current.attempt) return refuse('stale_attempt', `attempt ${attempt} is not the latest (${state.attempts})`)
  if (submission !== current.submission)
    return refuse('stale_submission', `submission ${submission} is not the latest (${current.submission})`)
  if (state.status !== 'checking' || !current.content) return refuse('wrong_status', `the task is ${state.status}: no checks are awaited`)
  const reported = new Set(reports.map((report) => report.id))
  const unreported = state.spec.checks.map(checkId).filter((id) => !reported.has(id))
  if (unreported.length > 0) return refuse('bad_command', `no report on ${unreported.join(', ')}: a check that did not run is not a pass`)

  const draft = new Draft(state)
  const facts = { attempt, submission, content: current.content.digest, reports }
  const failed = reports.filter((report) => report.outcome !== 'pass')
  if (failed.length === 0) {
    draft.emit('checks.passed', { ...facts, suspicions: command.suspicions })
    beginReview(draft, rules, command.nonce, command.suspicions, command.before)
    return draft.done()
  }
  draft.emit('checks.failed', facts)
  const mayRetry =
    current.attempt === state.attempts && current.conversational && current.checkFailures < rules.policy.review.maxCheckRetries
  if (!mayRetry) reject(draft, rules, 'checks', `Checks do not pass: ${failed.map((report) => report.id).join(', ')}.`, { reports: failed })
  return draft.done()
}

function reject(
  draft: Draft,
  rules: Rules,
  cause: 'empty' | 'checks' | 'case' | 'quiet',
  detail: string,
  { reports = [], usage }: { reports?: TaskCommandOf<'report_checks'>['reports']; usage?: Usage | undefined } = {},
): void {
  const attempt = attemptAtHand(draft.state)
  draft.emit('attempt.rejected', { attempt, category: 'acceptance_gap', cause, detail, reports, ...(usage && { usage }) })
  sendBack(draft, rules)
}
