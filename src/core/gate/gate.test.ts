import { describe, expect, it } from 'vitest'
import type { GateSpec } from '../../contract/events/gate.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Score } from '../../contract/score.ts'
import { rational } from '../score/exact.ts'
import { scoreOf } from '../score/score.ts'
import { decideGate, evolveGate, type GateCommand, type GateInput, type GateState, isOpen, type MaybeGate } from './gate.ts'

const spec: GateSpec = {
  name: 'code-review',
  afterTasks: ['m/a', 'm/b'],
  blocksTasks: ['m/c'],
  requireAllPassed: true,
  notifyChannels: [],
}
const score = (n: number, d = 1) => scoreOf(rational(n, d))
const good: Score = { exact: '4/1', on5: 4, on100: 80 }
const clean = (task: string, more: Partial<GateInput> = {}): GateInput => ({
  task,
  status: 'done',
  flag: 'clean',
  score: good,
  ...more,
})
const fold = (events: readonly AssayEvent[], from?: MaybeGate) => events.reduce<MaybeGate>(evolveGate, from)
const names = { missionId: 'm', gateName: 'code-review' }

function gate(changes: Partial<GateSpec> = {}): GateState {
  return fold([{ type: 'gate.created', data: { missionId: 'm', gate: { ...spec, ...changes } } }]) as GateState
}

function emitted(state: MaybeGate, command: GateCommand): AssayEvent[] {
  const result = decideGate(state, command)
  if (!result.ok) expect.fail(`refused: ${result.error.message}`)
  return result.value
}

function refusal(state: MaybeGate, command: GateCommand) {
  const result = decideGate(state, command)
  return result.ok ? 'not refused' : result.error
}

const evaluate = (...inputs: GateInput[]): GateCommand => ({ type: 'evaluate_gate', inputs, evaluate: true })

/** Events of a look at these inputs, folded in. */
function after(state: GateState, ...inputs: GateInput[]): GateState {
  return fold(emitted(state, evaluate(...inputs)), state) as GateState
}

const failing = () => after(gate(), clean('m/a'), clean('m/b', { flag: 'below-threshold', score: score(2) }))
const answer = (said: 'retry' | 'waive' | 'stop', reason = 'because'): GateCommand => ({
  type: 'answer_gate',
  request: 'm/gate:code-review#1',
  answer: said,
  by: 'owner',
  reason,
})

describe('a gate', () => {
  it('is created once, and waits', () => {
    const create: GateCommand = { type: 'create_gate', mission: 'm', gate: spec }
    expect(emitted(undefined, create)).toEqual([{ type: 'gate.created', data: { missionId: 'm', gate: spec } }])
    expect(gate()).toEqual({ mission: 'm', spec, status: 'waiting', weak: [], requests: 0 })
    expect(refusal(gate(), create)).toEqual({ code: 'already_exists', message: expect.stringContaining('code-review') })
  })

  it.each<GateCommand>([evaluate(), { type: 'reopen_gate', task: 'm/a' }, answer('waive')])(
    'that does not exist is not found: %j',
    (command) => {
      expect(refusal(undefined, command)).toMatchObject({ code: 'not_found', message: expect.stringMatching(/\w/) })
      expect(evolveGate(undefined, { type: 'quality.gate.passed', data: names })).toBeUndefined()
    },
  )

  it.each([
    ['waiting', false],
    ['passed', true],
    ['failed', false],
    ['skipped', true],
    ['waived', true],
    ['stopped', false],
  ] as const)('that is %s lets through: %s', (status, open) => {
    expect(isOpen({ status })).toBe(open)
  })
})

describe('a look at the inputs', () => {
  it.each(['waiting', 'todo', 'running', 'checking', 'in_review', 'held'] as const)('waits for one that is %s, and names it', (status) => {
    const result = refusal(gate(), evaluate(clean('m/a'), clean('m/b', { status })))
    expect(result).toEqual({ code: 'inputs_incomplete', message: expect.stringMatching(/code-review.*m\/b$/) })
  })

  it('waits for those that nobody has told of, and names them all', () => {
    expect(refusal(gate(), evaluate())).toMatchObject({ code: 'inputs_incomplete', message: expect.stringContaining('m/a, m/b') })
  })

  it('passes with the average of the scores, told in any order, others left aside', () => {
    const inputs = [clean('m/z', { score: score(1) }), clean('m/b', { score: score(3), flag: 'owner-accepted' }), clean('m/a')]
    const events = emitted(gate({ minScore: 3.5 }), evaluate(...inputs))
    expect(events).toEqual([{ type: 'quality.gate.passed', data: { ...names, avgScore: score(7, 2) } }])
    expect(fold(events, gate())).toMatchObject({ status: 'passed', weak: [] })
  })

  it('passes without an average where nobody was scored and no score is asked for', () => {
    const unscored = (task: string): GateInput => ({ task, status: 'done', flag: 'clean' })
    expect(emitted(gate(), evaluate(unscored('m/a'), unscored('m/b')))).toEqual([{ type: 'quality.gate.passed', data: names }])
  })

  it('is skipped with evaluation off, whatever the inputs came to', () => {
    const inputs: GateInput[] = [
      { task: 'm/a', status: 'failed' },
      { task: 'm/b', status: 'skipped' },
    ]
    const events = emitted(gate(), { type: 'evaluate_gate', inputs, evaluate: false })
    expect(events).toEqual([{ type: 'quality.gate.skipped', data: names }])
    expect(fold(events, gate())).toMatchObject({ status: 'skipped', weak: [] })
  })

  it('happens once', () => {
    const passed = after(gate(), clean('m/a'), clean('m/b'))
    const again = refusal(passed, evaluate(clean('m/a'), clean('m/b')))
    expect(again).toEqual({ code: 'wrong_status', message: expect.stringMatching(/code-review.*passed/) })
  })
})

describe('inputs that a gate does not let pass', () => {
  const ends: [GateInput, { strict: boolean; done: boolean }][] = [
    [clean('m/b'), { strict: true, done: true }],
    [clean('m/b', { flag: 'owner-accepted' }), { strict: true, done: true }],
    [clean('m/b', { flag: 'below-threshold' }), { strict: false, done: true }],
    [clean('m/b', { flag: 'unreviewed' }), { strict: false, done: true }],
    [
      { task: 'm/b', status: 'failed', score: good },
      { strict: false, done: false },
    ],
    [
      { task: 'm/b', status: 'skipped', score: good },
      { strict: false, done: false },
    ],
    [clean('m/b', { status: 'failed' }), { strict: false, done: false }],
  ]

  it.each(ends)('%j', (input, { strict, done }) => {
    const passes = (requireAllPassed: GateSpec['requireAllPassed']) =>
      after(gate({ requireAllPassed }), clean('m/a'), input).status === 'passed'
    expect({ strict: passes(true), done: passes('done'), any: passes(false) }).toEqual({ strict, done, any: true })
  })

  it('are named with how they ended, and asked about', () => {
    const [failed, requested] = emitted(gate(), evaluate(clean('m/a', { flag: 'unreviewed' }), { task: 'm/b', status: 'failed' }))
    const reason = 'm/a is unreviewed; m/b is failed'
    expect(failed).toEqual({ type: 'quality.gate.failed', data: { ...names, avgScore: score(4), reason, weak: ['m/a', 'm/b'] } })
    expect(requested).toEqual({
      type: 'operator.requested',
      data: {
        request: 'm/gate:code-review#1',
        kind: 'gate_failed',
        detail: expect.stringContaining(reason),
        answers: ['retry', 'waive', 'stop'],
      },
    })
  })

  it('fail the bar where one has no score, named as unscored', () => {
    const { score: _none, ...unscored } = clean('m/b')
    const failed = after(gate({ minScore: 1, requireAllPassed: false }), clean('m/a'), unscored)
    expect(failed).toMatchObject({ status: 'failed', weak: ['m/b'], reason: 'unscored: m/b' })
    const { score: _neither, ...other } = clean('m/a')
    expect(after(gate({ minScore: 1 }), other, unscored).reason).toBe('unscored: m/a, m/b')
  })

  it('fail the bar where the average is below it, both scales shown; the weak are those below it themselves', () => {
    const failed = after(gate({ minScore: 80 }), clean('m/a'), clean('m/b', { score: score(39, 10) }))
    expect(failed).toMatchObject({ status: 'failed', weak: ['m/b'], reason: expect.stringMatching(/3\.95 \(79\/100\).*4\.0 \(80\/100\)/) })
  })

  it('are weak where they are not clean even if their score is good, and where no bar is asked for', () => {
    expect(after(gate(), clean('m/a', { flag: 'unreviewed' }), clean('m/b')).weak).toEqual(['m/a'])
    expect(failing().weak).toEqual(['m/b'])
  })
})

describe("the owner's answer", () => {
  it('waives with a reason: the gate is open, and no request is', () => {
    const events = emitted(failing(), answer('waive'))
    const said = { by: 'owner', reason: 'because' }
    expect(events).toEqual([
      { type: 'operator.answered', data: { request: 'm/gate:code-review#1', answer: 'waive', ...said } },
      { type: 'gate.waived', data: { ...names, ...said } },
    ])
    const waived = fold(events, failing()) as GateState
    expect(waived).toEqual({ mission: 'm', spec, status: 'waived', weak: ['m/b'], requests: 1, waived: said })
  })

  it('is told of a waiver that it gave before, where the gate asks anew', () => {
    const open = fold(emitted(failing(), answer('waive', 'hurry')), failing()) as GateState
    const shut = fold(emitted(open, { type: 'reopen_gate', task: 'm/b' }), open) as GateState
    const [, asked] = emitted(shut, evaluate(clean('m/a'), clean('m/b', { flag: 'below-threshold' })))
    expect(asked).toMatchObject({ type: 'operator.requested', data: { detail: expect.stringMatching(/owner waived it before.*: hurry$/) } })
  })

  it('stops with a reason', () => {
    const events = emitted(failing(), answer('stop'))
    expect(events).toMatchObject([
      { type: 'operator.answered', data: { answer: 'stop' } },
      { type: 'gate.stopped', data: { ...names, by: 'owner', reason: 'because' } },
    ])
    expect(fold(events, failing())).toMatchObject({ status: 'stopped' })
  })

  it('sends the weak inputs back without a reason, and the next failure asks anew', () => {
    const events = emitted(failing(), answer('retry', ''))
    expect(events).toMatchObject([
      { type: 'operator.answered', data: { answer: 'retry' } },
      { type: 'gate.retried', data: { ...names, tasks: ['m/b'], by: 'owner' } },
    ])
    const waiting = fold(events, failing()) as GateState
    expect(waiting).toEqual({ mission: 'm', spec, status: 'waiting', weak: [], requests: 1 })
    expect(after(waiting, clean('m/a'), { task: 'm/b', status: 'failed' })).toMatchObject({ request: 'm/gate:code-review#2', requests: 2 })
  })

  it.each(['waive', 'stop'] as const)('%s needs a reason', (said) => {
    expect(refusal(failing(), answer(said, ' \n'))).toEqual({ code: 'reason_required', message: expect.stringContaining(said) })
  })

  it('is refused where its request is not open', () => {
    const passed = after(gate(), clean('m/a'), clean('m/b'))
    expect(refusal(passed, answer('waive'))).toEqual({ code: 'not_found', message: expect.stringContaining('m/gate:code-review#1') })
    const waived = fold(emitted(failing(), answer('waive')), failing())
    expect(refusal(waived, answer('stop'))).toMatchObject({ code: 'not_found' })
  })
})

describe('an input that is open again', () => {
  const reopen = (task = 'm/b'): GateCommand => ({ type: 'reopen_gate', task })

  it.each([
    ['passed', () => after(gate(), clean('m/a'), clean('m/b'))],
    ['failed', failing],
    ['waived', () => fold(emitted(failing(), answer('waive')), failing()) as GateState],
  ])('makes a gate that has %s wait again, its request closed', (status, made) => {
    const state = made()
    expect(state.status).toBe(status)
    const events = emitted(state, reopen())
    expect(events).toEqual([{ type: 'gate.reopened', data: { ...names, task: 'm/b' } }])
    const kept = state.waived && { waived: state.waived }
    expect(fold(events, state)).toEqual({ mission: 'm', spec, status: 'waiting', weak: [], requests: state.requests, ...kept })
  })

  it('is nothing to a gate that waits, to one that was stopped, and to one whose input it is not', () => {
    const stopped = fold(emitted(failing(), answer('stop')), failing())
    expect(refusal(gate(), reopen())).toEqual({ code: 'wrong_status', message: expect.stringMatching(/code-review.*waiting/) })
    expect(refusal(stopped, reopen())).toMatchObject({ code: 'wrong_status', message: expect.stringContaining('stopped') })
    expect(refusal(failing(), reopen('m/c'))).toEqual({ code: 'not_found', message: expect.stringMatching(/m\/c.*code-review/) })
  })

  const again = (...inputs: GateInput[]): GateCommand => ({ type: 'evaluate_gate', inputs, evaluate: true, task: 'm/b' })

  it('and was accepted by the owner makes a gate that failed pass, its request closed', () => {
    const accepted = clean('m/b', { flag: 'owner-accepted', score: score(2) })
    const events = emitted(failing(), again(clean('m/a'), accepted))
    expect(events.map(({ type }) => type)).toEqual(['gate.reopened', 'quality.gate.passed'])
    const passed = fold(events, failing())
    expect(passed).toMatchObject({ status: 'passed', weak: [] })
    expect(passed?.request).toBeUndefined()
  })

  it('says nothing where the gate would fail for the same, and asks anew where for something else', () => {
    const before = clean('m/b', { flag: 'below-threshold', score: score(2) })
    expect(emitted(failing(), again(clean('m/a'), before))).toEqual([])
    const events = emitted(failing(), again(clean('m/a', { flag: 'unreviewed' }), before))
    expect(events.map(({ type }) => type)).toEqual(['gate.reopened', 'quality.gate.failed', 'operator.requested'])
    expect(fold(events, failing())).toMatchObject({ weak: ['m/a', 'm/b'], request: 'm/gate:code-review#2' })
    expect(refusal(failing(), { ...again(clean('m/a'), before), task: 'm/c' } as GateCommand)).toMatchObject({ code: 'not_found' })
    expect(refusal(failing(), again(clean('m/a')))).toMatchObject({ code: 'inputs_incomplete' })
  })

  it('and events that are not of a gate leave it as it is', () => {
    const state = failing()
    expect(evolveGate(state, { type: 'threshold.waived', data: { missionId: 'm', by: 'owner', reason: 'x' } })).toBe(state)
  })
})
