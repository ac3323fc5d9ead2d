import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { RefusalCode } from '../../contract/errors.ts'
import type { TaskStatus } from '../../contract/task.ts'
import { HeldReason } from '../../contract/task.ts'
import { type Place, lives, places, upstream } from '../../testing/task/lives.ts'
import { arbitraryRules, arbitrarySpec, arbitrarySteps, playHistory } from '../../testing/task/random-history.ts'
import { checks, contentOf, freshNonce, opine, start, submit } from '../../testing/task/steps.ts'
import { specWith } from '../../testing/task/world.ts'
import { decide } from './decide.ts'
import type { TaskState } from './state.ts'

const owner = { by: 'owner', reason: 'because' }
const latest = (state: TaskState) => Math.max(1, state.attempts)
const seatOne = { review: 1, seat: 1, round: 1, judge: 'qa', nonce: 'nonce-000' }
const answer = (given: 'retry' | 'accept' | 'fail') => (state: TaskState) => ({
  type: 'answer_request' as const,
  request: state.requests.at(-1)?.request ?? 'mission/task#1',
  answer: given,
  nonce: freshNonce(),
  ...owner,
})

/** Every command, as it would arrive in a state. */
const commands = {
  create_task: () => ({ type: 'create_task', spec: specWith() }),
  ready_task: () => ({ type: 'ready_task', inputs: [upstream()] }),
  skip_task: () => ({ type: 'skip_task', because: 'mission/up failed' }),
  start_attempt: () => start(),
  join_attempt: (state) => ({ type: 'join_attempt', attempt: latest(state), participant: 'qa3' }),
  submit_case: (state) => ({ ...submit(state, 'two'), attempt: latest(state) }) as TaskCommand,
  report_quiet: (state) => ({ type: 'report_quiet', attempt: latest(state) }),
  fail_attempt: (state) => ({ type: 'fail_attempt', attempt: latest(state), failure: 'exit', detail: 'exit 1' }),
  interrupt_attempt: (state) => ({ type: 'interrupt_attempt', attempt: latest(state), detail: 'crash' }),
  stop_attempt: (state) => ({ type: 'stop_attempt', attempt: latest(state), detail: 'stopped' }),
  report_checks: (state) => ({ ...checks(state), attempt: latest(state), submission: state.current?.submission || 1 }) as TaskCommand,
  record_reply: (state) =>
    state.panel
      ? opine(state, 1, { accept: true })
      : { type: 'record_reply', ...seatOne, reply: { channel: 'text', body: '{}' }, resolutions: [] },
  record_unavailable: (state) => ({
    type: 'record_unavailable',
    ...seatOne,
    round: state.panel?.seats[0]?.round ?? 1,
    judge: state.panel?.seats[0]?.judge ?? 'qa',
    detail: '503',
  }),
  retry_review: () => ({ type: 'retry_review', nonce: freshNonce() }),
  confirm_restored: (state) => ({
    type: 'confirm_restored',
    attempt: 1,
    content: state.restoring?.content ?? state.current?.content?.digest ?? '',
  }),
  hold_task: () => ({ type: 'hold_task', reason: 'operator', detail: 'wait' }),
  fail_task: () => ({ type: 'fail_task', reason: 'deadline' }),
  input_reopened: () => ({ type: 'input_reopened', task: 'mission/up' }),
  'input_landed, the same': () => ({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() }),
  'input_landed, other content': () => ({ type: 'input_landed', input: upstream('d2'), nonce: freshNonce() }),
  'answer_request, retry': answer('retry'),
  'answer_request, accept': answer('accept'),
  'answer_request, fail': answer('fail'),
  'overrule_task, pass': () => ({ type: 'overrule_task', outcome: 'pass', ...owner }),
  'overrule_task, fail': () => ({ type: 'overrule_task', outcome: 'fail', ...owner }),
  reopen_task: () => ({ type: 'reopen_task', ...owner }),
  reset_task: () => ({ type: 'reset_task', ...owner }),
  adopt_policy: (state) => ({
    type: 'adopt_policy',
    nonce: freshNonce(),
    bar: state.spec.bar,
    dimensions: state.spec.dimensions,
    checks: state.spec.checks,
    by: 'owner',
  }),
} satisfies Record<string, (state: TaskState) => TaskCommand>

type Named = keyof typeof commands
type Outcome = TaskStatus | RefusalCode
type Row = { usually: Outcome | 'stays'; but?: Partial<Record<Place, Outcome>> }

const each = <T extends string>(names: readonly T[], outcome: Outcome) =>
  Object.fromEntries(names.map((name) => [name, outcome])) as Record<T, Outcome>
const held = places.filter((place) => place.startsWith('held'))
const done = places.filter((place) => place.startsWith('done'))
const neverRan = ['waiting', 'todo', 'held: operator', 'skipped'] as const

/** What an attempt's own commands come to: they need the open attempt. */
const ofAttempt = (running: Outcome): Row => ({ usually: 'wrong_status', but: { ...each(neverRan, 'stale_attempt'), running } })

/** The table of states (SPEC §1), turned round: what each command does in each state. */
const table: Record<Named, Row> = {
  create_task: { usually: 'already_exists' },
  ready_task: { usually: 'wrong_status', but: { waiting: 'todo' } },
  skip_task: { usually: 'wrong_status', but: { waiting: 'skipped' } },
  start_attempt: { usually: 'wrong_status', but: { todo: 'running' } },
  join_attempt: ofAttempt('running'),
  submit_case: ofAttempt('checking'),
  report_quiet: ofAttempt('running'),
  fail_attempt: ofAttempt('todo'),
  interrupt_attempt: ofAttempt('todo'),
  stop_attempt: ofAttempt('todo'),
  report_checks: {
    usually: 'wrong_status',
    but: {
      ...each(neverRan, 'stale_attempt'),
      running: 'stale_submission',
      'held: exhausted_unscored': 'stale_submission',
      checking: 'in_review',
    },
  },
  record_reply: {
    usually: 'stale_review',
    but: {
      in_review: 'in_review',
      'held: budget': 'held',
      'held: stale_input': 'held',
      'held: unreadable': 'stale_seat',
      'held: judge_unavailable': 'stale_seat',
    },
  },
  record_unavailable: {
    usually: 'stale_review',
    but: {
      in_review: 'in_review',
      'held: budget': 'held',
      'held: stale_input': 'held',
      'held: unreadable': 'stale_seat',
      'held: judge_unavailable': 'stale_seat',
    },
  },
  retry_review: { usually: 'wrong_status', but: { 'held: judge_unavailable': 'in_review' } },
  confirm_restored: { usually: 'wrong_status', but: { restoring: 'done' } },
  hold_task: { usually: 'wrong_status', but: each(['todo', 'checking', 'in_review', 'restoring'], 'held') },
  fail_task: { usually: 'failed', but: each([...done, 'failed', 'skipped'], 'wrong_status') },
  input_reopened: {
    usually: 'held',
    but: { waiting: 'not_found', skipped: 'not_found', failed: 'wrong_status', 'held: stale_input': 'wrong_status' },
  },
  'input_landed, the same': { usually: 'not_found', but: { 'held: stale_input': 'in_review' } },
  'input_landed, other content': { usually: 'not_found', but: { 'held: stale_input': 'todo' } },
  'answer_request, retry': {
    usually: 'not_found',
    but: {
      ...each(['held: judge_unavailable', 'held: unreadable', 'held: budget'], 'in_review'),
      ...each(['held: operator', 'held: exhausted_unscored', 'held: escalated', 'done: below-threshold'], 'todo'),
      'held: no_reviewer': 'held',
      'held: stale_input': 'bad_answer',
    },
  },
  'answer_request, accept': {
    usually: 'not_found',
    but: { ...each(held, 'done'), ...each(['held: operator', 'held: exhausted_unscored'], 'bad_answer'), 'done: below-threshold': 'done' },
  },
  'answer_request, fail': { usually: 'not_found', but: { ...each(held, 'failed'), 'done: below-threshold': 'bad_answer' } },
  'overrule_task, pass': {
    usually: 'wrong_status',
    but: {
      ...each([...held, ...done, 'failed'], 'done'),
      ...each(['held: operator', 'held: exhausted_unscored', 'done: clean'], 'wrong_status'),
    },
  },
  // Where nobody tells it what becomes of its inputs, it is readied anew.
  'overrule_task, fail': { usually: 'wrong_status', but: each(done, 'waiting') },
  reopen_task: {
    usually: 'wrong_status',
    but: { ...each(done, 'todo'), ...each(['done: owner-accepted', 'failed', 'skipped'], 'waiting') },
  },
  reset_task: { usually: 'stays' },
  adopt_policy: { usually: 'wrong_status' },
}

describe('the table of states', () => {
  it('knows a life in every state and every reason to be held', () => {
    for (const place of places) {
      const { status, hold, done: flagged } = lives[place]().state
      expect(hold ? `held: ${hold.reason}` : flagged ? `done: ${flagged.flag}` : status).toBe(place === 'restoring' ? 'in_review' : place)
    }
    expect(HeldReason.options.filter((reason) => !(`held: ${reason}` in lives))).toEqual([])
  })

  it.each(Object.keys(commands) as Named[])('%s is decided or refused in every state as the table says', (name) => {
    const row = table[name]
    const outcomes = places.map((place) => {
      const task = lives[place]()
      const expected = row.but?.[place] ?? (row.usually === 'stays' ? task.state.status : row.usually)
      const command: TaskCommand = commands[name](task.state)
      return { place, expected, actual: task.refusal(command) ?? task.when(command).state.status }
    })
    expect(outcomes.map(({ place, actual }) => `${place}: ${actual}`)).toEqual(
      outcomes.map(({ place, expected }) => `${place}: ${expected}`),
    )
  })

  it('refuses everything of a task that was never created', () => {
    const { state, rules } = lives.in_review()
    for (const [name, command] of Object.entries(commands)) {
      const decided = decide(undefined, command(state), rules)
      expect(decided.ok ? 'decided' : decided.error.code, name).toBe(name === 'create_task' ? 'decided' : 'not_found')
    }
  })

  it('refuses everything but its adoption under another policy', () => {
    for (const place of places) {
      const { state, rules } = lives[place]()
      for (const [name, command] of Object.entries(commands)) {
        const decided = decide(state, command(state), { ...rules, digest: 'sha256:other' })
        const expected = name === 'create_task' ? 'already_exists' : name === 'adopt_policy' ? 'decided' : 'policy_changed'
        expect(decided.ok ? 'decided' : decided.error.code, `${place}: ${name}`).toBe(expected)
      }
    }
  })

  it('says in every refusal what is wrong', () => {
    for (const place of places) {
      const { state, rules } = lives[place]()
      for (const command of Object.values(commands)) {
        for (const [task, under] of [
          [state, rules],
          [undefined, rules],
          [state, { ...rules, digest: 'sha256:other' }],
        ] as const) {
          const decided = decide(task, command(state), under)
          if (!decided.ok) expect(decided.error.message).toMatch(/\S+ \S+/)
        }
      }
    }
  })

  const foreign = { reply: { channel: 'text' as const, body: '{}' }, resolutions: [], ...seatOne }
  it.each<[string, Place, TaskCommand, RegExp]>([
    ['who is not the assignee', 'todo', start(false, 'qa'), /qa.*dev/],
    ['who does not sit there', 'in_review', { type: 'record_reply', ...foreign, judge: 'lead' }, /lead.*seat 1/],
    ['that nobody sits there', 'in_review', { type: 'record_reply', ...foreign, seat: 9 }, /seat 9/],
    [
      'that a conversational worker submits itself',
      'running',
      { type: 'submit_case', attempt: 1, raw: null, content: contentOf('x') },
      /conversational/,
    ],
    [
      'which answers there are',
      'held: escalated',
      { ...answer('retry')(lives['held: escalated']().state), answer: 'waive' },
      /retry, accept, fail/,
    ],
    [
      'that an answer needs a reason',
      'held: escalated',
      { ...answer('accept')(lives['held: escalated']().state), reason: '' },
      /accept.*reason/,
    ],
    ['that an overrule needs a reason', 'failed', { type: 'overrule_task', outcome: 'pass', by: 'o', reason: '' }, /reason/],
    ['which inputs are missing', 'waiting', { type: 'ready_task', inputs: [] }, /missing: mission\/up/],
  ])('says %s', (_what, place, command, pattern) => {
    const { state, rules } = lives[place]()
    const decided = decide(state, command, rules)
    expect(decided.ok ? 'decided' : decided.error.message).toMatch(pattern)
  })
})

describe('over random histories', () => {
  const ways: Record<TaskStatus, TaskStatus[]> = {
    // Done only where it was opened again, and the owner accepts what it had.
    waiting: ['todo', 'skipped', 'failed', 'done', 'in_review'],
    // To the review without an attempt only where the owner accepts work that has yet to be merged.
    todo: ['running', 'held', 'failed', 'done', 'in_review', 'waiting'],
    running: ['checking', 'todo', 'held', 'failed', 'in_review', 'done'],
    checking: ['in_review', 'running', 'todo', 'held', 'failed', 'done'],
    // Back to the checks only where a changed policy asks for others.
    in_review: ['todo', 'held', 'failed', 'done', 'checking', 'waiting'],
    held: ['todo', 'checking', 'in_review', 'failed', 'done', 'waiting'],
    done: ['todo', 'held', 'waiting'],
    failed: ['todo', 'waiting', 'done', 'in_review'],
    skipped: ['todo', 'waiting'],
  }

  it('a task takes no way that the table does not have', () => {
    fc.assert(
      fc.property(arbitraryRules, arbitrarySpec, arbitrarySteps, (rules, spec, steps) => {
        playHistory(rules, spec, steps, (before, { state, emitted }) => {
          if (state.status !== before.status) expect(ways[before.status], emitted.join(', ')).toContain(state.status)
          if (state.status === 'held') expect(state.hold).toBeDefined()
          else expect(state.hold).toBeUndefined()
          expect(state.done !== undefined).toBe(state.status === 'done' || (state.status === 'held' && before.done !== undefined))
        })
      }),
      { numRuns: Number(process.env.ASSAY_PROPERTY_RUNS ?? 300) },
    )
  })
})
