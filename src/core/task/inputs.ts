import type { TaskCommandOf } from '../../contract/commands/task.ts'
import { type Decided, Draft, type Rules, refuse } from './draft.ts'
import { liftTo } from './operator.ts'
import { abandonReview } from './reviewing.ts'
import { grantAttempt } from './rework.ts'
import { raiseRequest } from './requests.ts'
import type { TaskState } from './state.ts'

/** Every dependency is done: the task may run, bound to what it was given. */
export function ready(state: TaskState, command: TaskCommandOf<'ready_task'>): Decided {
  if (state.status !== 'waiting') return refuse('wrong_status', `the task is ${state.status}, not waiting`)
  const given = new Set(command.inputs.map((input) => input.task))
  const missing = state.spec.dependsOn.filter((task) => !given.has(task))
  if (missing.length > 0 || given.size !== command.inputs.length || given.size !== new Set(state.spec.dependsOn).size) {
    return refuse(
      'inputs_incomplete',
      `inputs do not match the dependencies${missing.length > 0 ? `; missing: ${missing.join(', ')}` : ''}`,
    )
  }
  const shut = (state.spec.gates ?? []).filter((gate) => !command.gates?.includes(gate))
  if (shut.length > 0) return refuse('inputs_incomplete', `it waits for the quality gate ${shut.join(', ')}`)
  return new Draft(state).emit('task.readied', { inputs: command.inputs }).done()
}

/** An input that this task already has was overruled or reopened: nothing of it counts until the input lands again. */
export function inputReopened(state: TaskState, command: TaskCommandOf<'input_reopened'>): Decided {
  const { task } = command
  if (!state.inputs.some((input) => input.task === task)) return refuse('not_found', `${task} is no input that this task was given`)
  if (state.status === 'failed' || state.status === 'skipped' || state.status === 'waiting')
    return refuse('wrong_status', `the task is ${state.status}`)
  if (state.staleInputs.includes(task)) return refuse('wrong_status', `${task} is known to be stale`)
  const draft = new Draft(state)
  if (state.status === 'running') draft.emit('attempt.stopped', { attempt: state.attempts, detail: `its input ${task} was reopened` })
  draft.emit('input.reopened', { task })
  if (state.hold?.reason !== 'stale_input') {
    const detail = `its input ${task} was reopened`
    draft.emit('task.held', { reason: 'stale_input', from: draft.state.status, detail })
    raiseRequest(draft, 'held', detail)
  }
  return draft.done()
}

/** A reopened input landed. The same content gives back the former state; other content sends the task to work again, one attempt granted. */
export function inputLanded(state: TaskState, command: TaskCommandOf<'input_landed'>, rules: Rules): Decided {
  const { input } = command
  if (!state.staleInputs.includes(input.task)) return refuse('not_found', `${input.task} is no stale input of this task`)
  const draft = new Draft(state).emit('input.landed', { input })
  if (draft.state.staleInputs.length > 0) return draft.done()
  const why = `its input ${input.task} landed`
  if (!draft.state.inputChanged) {
    liftTo(draft, why, rules, command.nonce)
    return draft.done()
  }
  abandonReview(draft, rules, 'input_changed')
  draft.emit('hold.lifted', { reason: 'stale_input', to: 'todo', why: `${why} with other content` })
  draft.emit('task.reopened', { by: 'runtime', reason: why })
  grantAttempt(draft, rules, why)
  return draft.done()
}
