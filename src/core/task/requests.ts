import type { EventData } from '../../contract/events/manifest.ts'
import type { OperatorAnswer } from '../../contract/events/task.ts'
import type { Draft } from './draft.ts'
import { type OpenRequest, submittedContent, type TaskState } from './state.ts'

/** Asks the operator, offering only answers that lead somewhere from here. */
export function raiseRequest(draft: Draft, kind: EventData<'operator.requested'>['kind'], detail: string): void {
  const request = `${draft.state.spec.id}#${draft.state.requestCount + 1}`
  draft.emit('operator.requested', { request, kind, detail, answers: answersFor(draft.state) })
}

/** Answers to a question that are taken now: while an input is stale there is nothing to try again, whatever was asked before. */
export function answersNow({ hold }: Pick<TaskState, 'hold'>, { answers }: OpenRequest): OperatorAnswer[] {
  return hold?.reason === 'stale_input' ? answers.filter((answer) => answer !== 'retry') : answers
}

function answersFor(state: TaskState): OperatorAnswer[] {
  if (state.status === 'done') return ['acknowledge', 'retry', 'accept']
  const mayRetry: OperatorAnswer[] = state.hold?.reason === 'stale_input' ? [] : ['retry']
  return state.done?.content || submittedContent(state) ? [...mayRetry, 'accept', 'fail'] : [...mayRetry, 'fail']
}
