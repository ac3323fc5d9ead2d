import type { Refusal, RefusalCode, Result } from '../../contract/errors.ts'
import type { GateSpec } from '../../contract/events/gate.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Score } from '../../contract/score.ts'
import type { DoneFlag, TaskStatus } from '../../contract/task.ts'
import { add, div, rational } from '../score/exact.ts'
import { describeBar, describeScore, exactOf, reaches, scoreOf } from '../score/score.ts'

/** How one of its tasks ended, as a gate looks at it. */
export interface GateInput {
  task: string
  status: TaskStatus
  flag?: DoneFlag
  score?: Score
}

export interface GateState {
  mission: string
  spec: GateSpec
  status: 'waiting' | 'passed' | 'failed' | 'skipped' | 'waived' | 'stopped'
  weak: string[]
  reason?: string
  request?: string
  requests: number
  /** The owner let it pass once, before an input was opened again. */
  waived?: { by: string; reason: string }
}

export type GateCommand =
  | { type: 'create_gate'; mission: string; gate: GateSpec }
  /** Every input has ended, in this way; `task` is the one whose end makes a gate that failed look again. */
  | { type: 'evaluate_gate'; inputs: readonly GateInput[]; evaluate: boolean; task?: string }
  | { type: 'reopen_gate'; task: string }
  /** The owner's: the door has checked the authority. */
  | { type: 'answer_gate'; request: string; answer: 'retry' | 'waive' | 'stop'; by: string; reason: string }

export type MaybeGate = GateState | undefined

/** A gate lets through what it blocks. */
export function isOpen({ status }: Pick<GateState, 'status'>): boolean {
  return status === 'passed' || status === 'skipped' || status === 'waived'
}

/** The one way a gate moves. Pure. */
export function decideGate(state: MaybeGate, command: GateCommand): Result<AssayEvent[]> {
  if (command.type === 'create_gate') {
    if (state) return refuse('already_exists', `the gate ${state.spec.name} exists`)
    return { ok: true, value: [{ type: 'gate.created', data: { missionId: command.mission, gate: command.gate } }] }
  }
  if (!state) return refuse('not_found', 'there is no such gate')
  if (command.type === 'evaluate_gate') {
    if (state.status === 'failed' && command.task !== undefined) return evaluateAgain(state, command.task, command)
    return evaluate(state, command.inputs, command.evaluate)
  }
  if (command.type === 'reopen_gate') return reopen(state, command.task)
  return answer(state, command)
}

const ended = new Set<TaskStatus>(['done', 'failed', 'skipped'])

function evaluate(state: GateState, inputs: readonly GateInput[], evaluated: boolean): Result<AssayEvent[]> {
  const { spec } = state
  const names = { missionId: state.mission, gateName: spec.name }
  if (state.status !== 'waiting') return refuse('wrong_status', `the gate ${spec.name} is ${state.status} already`)
  const given = new Map(inputs.map((input) => [input.task, input]))
  const open = spec.afterTasks.filter((task) => !ended.has(given.get(task)?.status ?? 'waiting'))
  if (open.length > 0) return refuse('inputs_incomplete', `the gate ${spec.name} waits for ${open.join(', ')}`)
  if (!evaluated) return { ok: true, value: [{ type: 'quality.gate.skipped', data: names }] }
  const all = spec.afterTasks.map((task) => given.get(task) as GateInput)
  const average = averageOf(all)
  const reasons = [...statusReasons(spec, all), ...scoreReasons(spec, all, average)]
  const avgScore = average && { avgScore: average }
  if (reasons.length === 0) return { ok: true, value: [{ type: 'quality.gate.passed', data: { ...names, ...avgScore } }] }
  const reason = reasons.join('; ')
  const weak = all.filter((input) => isWeak(spec, input)).map(({ task }) => task)
  const request = `${state.mission}/gate:${spec.name}#${state.requests + 1}`
  const detail = `the quality gate ${spec.name} does not pass: ${reason}${waivedBefore(state)}`
  return {
    ok: true,
    value: [
      { type: 'quality.gate.failed', data: { ...names, ...avgScore, reason, weak } },
      { type: 'operator.requested', data: { request, kind: 'gate_failed', detail, answers: ['retry', 'waive', 'stop'] } },
    ],
  }
}

/** A waiver does not outlive what it was given for; whoever is asked anew is told of it. */
export function waivedBefore({ waived }: Pick<GateState, 'waived'>): string {
  return waived ? `; ${waived.by} waived it before one of these was opened again: ${waived.reason}` : ''
}

/** A gate that failed and would fail for the same says nothing new; its question stands. Otherwise the question is put away with what it asked about. */
function evaluateAgain(
  state: GateState,
  task: string,
  { inputs, evaluate: evaluated }: { inputs: readonly GateInput[]; evaluate: boolean },
): Result<AssayEvent[]> {
  const reopened = reopen(state, task)
  if (!reopened.ok) return reopened
  const looked = evaluate(reopened.value.reduce<MaybeGate>(evolveGate, state) ?? state, inputs, evaluated)
  if (!looked.ok) return looked
  const [first] = looked.value
  const same =
    first?.type === 'quality.gate.failed' && first.data.reason === state.reason && first.data.weak.join('\n') === state.weak.join('\n')
  return { ok: true, value: same ? [] : [...reopened.value, ...looked.value] }
}

/** The unweighted average of the final scores; none where no input has one. */
function averageOf(inputs: readonly GateInput[]): Score | undefined {
  const scores = inputs.flatMap(({ score }) => (score ? [exactOf(score)] : []))
  if (scores.length === 0) return undefined
  return scoreOf(div(scores.reduce(add), rational(scores.length)))
}

const wellEnded = ({ status, flag }: GateInput): boolean => status === 'done' && (flag === 'clean' || flag === 'owner-accepted')

function statusReasons({ requireAllPassed }: GateSpec, inputs: readonly GateInput[]): string[] {
  if (requireAllPassed === false) return []
  const bad = inputs.filter((input) => (requireAllPassed === 'done' ? input.status !== 'done' : !wellEnded(input)))
  return bad.map(({ task, status, flag }) => `${task} is ${flag ?? status}`)
}

/** An input without a score fails the bar: nobody knows how good it is. */
function scoreReasons({ minScore }: GateSpec, inputs: readonly GateInput[], average: Score | undefined): string[] {
  if (minScore === undefined) return []
  const unscored = inputs.filter(({ score }) => score === undefined)
  if (unscored.length > 0) return [`unscored: ${unscored.map(({ task }) => task).join(', ')}`]
  if (average && reaches(exactOf(average), minScore)) return []
  return [`the average ${average ? describeScore(average) : 'is missing'} is below ${describeBar(minScore)}`]
}

function isWeak({ minScore }: GateSpec, input: GateInput): boolean {
  if (!wellEnded(input) || !input.score) return true
  return minScore !== undefined && !reaches(exactOf(input.score), minScore)
}

/** A passed gate is looked at again only where an input is open again. */
function reopen(state: GateState, task: string): Result<AssayEvent[]> {
  const { spec, mission, status } = state
  if (!spec.afterTasks.includes(task)) return refuse('not_found', `${task} is no input of the gate ${spec.name}`)
  if (status === 'waiting' || status === 'stopped') return refuse('wrong_status', `the gate ${spec.name} is ${status}`)
  return { ok: true, value: [{ type: 'gate.reopened', data: { missionId: mission, gateName: spec.name, task } }] }
}

function answer(state: GateState, command: Extract<GateCommand, { type: 'answer_gate' }>): Result<AssayEvent[]> {
  const { request, answer: said, by, reason } = command
  const { spec, mission } = state
  if (state.request !== request) return refuse('not_found', `no open request ${request}: it was answered, or its cause ended`)
  if (said !== 'retry' && reason.trim() === '') return refuse('reason_required', `${said} needs a reason`)
  const names = { missionId: mission, gateName: spec.name, by, reason }
  const answered: AssayEvent = { type: 'operator.answered', data: { request, answer: said, by, reason } }
  if (said === 'waive') return { ok: true, value: [answered, { type: 'gate.waived', data: names }] }
  if (said === 'stop') return { ok: true, value: [answered, { type: 'gate.stopped', data: names }] }
  return { ok: true, value: [answered, { type: 'gate.retried', data: { ...names, tasks: state.weak } }] }
}

function refuse(code: RefusalCode, message: string): { ok: false; error: Refusal } {
  return { ok: false, error: { code, message } }
}

export function evolveGate(state: MaybeGate, event: AssayEvent): MaybeGate {
  if (event.type === 'gate.created') {
    const { missionId, gate } = event.data
    return { mission: missionId, spec: gate, status: 'waiting', weak: [], requests: 0 }
  }
  if (!state) return state
  const { reason: _reason, request: _request, ...rest } = state
  switch (event.type) {
    case 'quality.gate.passed':
      return { ...rest, status: 'passed', weak: [] }
    case 'quality.gate.skipped':
      return { ...rest, status: 'skipped', weak: [] }
    case 'quality.gate.failed':
      return { ...rest, status: 'failed', weak: event.data.weak, reason: event.data.reason }
    case 'operator.requested':
      return { ...state, request: event.data.request, requests: state.requests + 1 }
    case 'gate.reopened':
    case 'gate.retried':
      return { ...rest, status: 'waiting', weak: [] }
    case 'gate.waived':
      return { ...rest, status: 'waived', waived: { by: event.data.by, reason: event.data.reason } }
    case 'gate.stopped':
      return { ...rest, status: 'stopped' }
    default:
      return state
  }
}
