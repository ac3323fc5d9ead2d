import type { OperatorAnswer } from '../../contract/events/task.ts'
import type { TaskInput, TaskSpec } from '../../contract/task.ts'
import type { Rules } from '../../core/task/draft.ts'
import type { History } from './given.ts'
import { allOpine, attemptUpToReview, created, freshNonce, openSeats, type Opinion, reply, start, submit, unreachable } from './steps.ts'
import { rulesWith } from './world.ts'

/** What a task with one dependency was given by it. */
export const upstream = (digest = 'd1', task = 'mission/up'): TaskInput => ({ task, digest, flag: 'clean', prefix: '' })

/** A task that may run, with one dependency whose work it was given. */
export function readied(rules: Rules, spec: Partial<TaskSpec> = {}): History {
  return created(rules, { dependsOn: ['mission/up'], ...spec }).when({ type: 'ready_task', inputs: [upstream()] })
}

/** The operator answers the latest request. */
export function answer(history: History, given: OperatorAnswer, reason = 'because'): History {
  const { request } = history.last('operator.requested')
  return history.when({ type: 'answer_request', request, answer: given, by: 'owner', reason, nonce: freshNonce() })
}

/** One whole attempt that every judge rejects. */
export function rejected(history: History, text: string, opinion: Partial<Opinion> = {}): History {
  return allOpine(attemptUpToReview(history, text), { accept: false, ...opinion })
}

/** One whole attempt that every judge accepts. */
export function accepted(history: History, text: string): History {
  return allOpine(attemptUpToReview(history, text), { accept: true })
}

/** Nobody in this review gives an answer that can be read. */
export function garble(history: History): History {
  for (let [seat] = openSeats(history.state); seat !== undefined; [seat] = openSeats(history.state)) {
    history.when(reply(history.state, seat, 'well, it looks good to me'))
  }
  return history
}

/** Nobody in this review can be reached. */
export function lose(history: History): History {
  for (let [seat] = openSeats(history.state); seat !== undefined; [seat] = openSeats(history.state)) {
    history.when(unreachable(history.state, seat))
  }
  return history
}

/** The open attempt ends with a non-zero exit. */
export function crash(history: History): History {
  return history.when(start()).when({ type: 'fail_attempt', attempt: history.state.attempts, failure: 'exit', detail: 'exit 3' })
}

const solo = { dev: { role: 'engineer', brain: 'shell' } }

/** A life up to each state that a task can be in, and to each reason and flag of it. */
export const lives = {
  waiting: (): History => created(rulesWith(), { dependsOn: ['mission/up'] }),
  todo: (): History => readied(rulesWith()),
  running: (): History => readied(rulesWith()).when(start(true)),
  checking: (): History => {
    const task = lives.running()
    return task.when(submit(task.state, 'one'))
  },
  in_review: (): History => attemptUpToReview(readied(rulesWith()), 'one'),
  restoring: (): History => {
    const task = rejected(readied(rulesWith({ forceAccept: 'best' })), 'one', { score: 2, evidence: ['a:1'] })
    return rejected(task, 'two', { score: 1, evidence: ['b:1'] })
  },
  'held: judge_unavailable': (): History => lose(attemptUpToReview(readied(rulesWith()), 'one')),
  'held: unreadable': (): History => garble(attemptUpToReview(readied(rulesWith({ onUnreadable: 'hold' })), 'one')),
  'held: no_reviewer': (): History => attemptUpToReview(readied(rulesWith({ whenNoReviewer: 'hold' }, solo)), 'one'),
  'held: budget': (): History => lives.in_review().when({ type: 'hold_task', reason: 'budget', detail: 'the money is spent' }),
  'held: operator': (): History => lives.todo().when({ type: 'hold_task', reason: 'operator', detail: 'wait' }),
  'held: exhausted_unscored': (): History => crash(readied(rulesWith({ maxAttempts: 1 }))),
  'held: escalated': (): History => rejected(readied(rulesWith({ maxAttempts: 1, onExhausted: 'escalate' })), 'one'),
  'held: stale_input': (): History => lives.in_review().when({ type: 'input_reopened', task: 'mission/up' }),
  'done: clean': (): History => accepted(readied(rulesWith()), 'one'),
  'done: below-threshold': (): History => rejected(readied(rulesWith({ maxAttempts: 1 })), 'one'),
  'done: unreviewed': (): History => attemptUpToReview(readied(rulesWith({ evaluate: false })), 'one'),
  'done: owner-accepted': (): History => answer(lives['held: escalated'](), 'accept'),
  failed: (): History => rejected(readied(rulesWith({ maxAttempts: 1, onExhausted: 'fail' })), 'one'),
  skipped: (): History => lives.waiting().when({ type: 'skip_task', because: 'mission/up failed' }),
} satisfies Record<string, () => History>

export type Place = keyof typeof lives
export const places = Object.keys(lives) as Place[]
