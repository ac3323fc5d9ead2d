import type { Content } from '../../contract/case.ts'
import type { CheckReport } from '../../contract/check.ts'
import { checkId } from '../../contract/check.ts'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { Category, Verdict } from '../../contract/verdict.ts'
import { digestOf } from '../../contract/canonical.ts'
import type { Rules } from '../../core/task/draft.ts'
import type { TaskState } from '../../core/task/state.ts'
import { evidencePointers } from '../../core/verdict/sitting.ts'
import { History } from './given.ts'
import { specWith } from './world.ts'

let nonces = 0
/** A fresh nonce; tests need it distinct, not secret. */
export function freshNonce(): string {
  nonces += 1
  return `nonce-${String(nonces).padStart(6, '0')}`
}

export const contentOf = (text: string): Content => ({
  digest: digestOf(text),
  snapshot: digestOf(text),
  base: digestOf('base'),
  empty: false,
  paths: ['core.txt'],
  output: text,
})
export const noContent: Content = {
  digest: digestOf('nothing'),
  snapshot: digestOf('nothing'),
  base: digestOf('base'),
  empty: true,
  paths: [],
}

/** A case that covers every criterion. */
export function fullCase(spec: TaskSpec, summary = 'Wrote the core.'): string {
  return JSON.stringify({ summary, ac_coverage: spec.criteria.map((criterion) => ({ criterion: criterion.id, pointer: 'core.txt:1' })) })
}

export function created(rules: Rules, spec: Partial<TaskSpec> = {}): History {
  return new History(rules).when({ type: 'create_task', spec: specWith(spec) })
}

export const start = (conversational = false, worker = 'dev'): TaskCommand => ({
  type: 'start_attempt',
  worker,
  conversational,
  participants: [],
  sandboxed: true,
})

export function submit(state: TaskState, text: string, options: { raw?: string | null; content?: Content } = {}): TaskCommand {
  const raw = options.raw === undefined ? fullCase(state.spec) : options.raw
  return { type: 'submit_case', attempt: state.attempts, raw, content: options.content ?? contentOf(text) }
}

/** Reports on all checks of the task, with these outcomes ('pass' where none is given). */
export function checks(state: TaskState, outcomes: CheckReport['outcome'][] = [], suspicions: string[] = []): TaskCommand {
  const reports = state.spec.checks.map((spec, index) => {
    const outcome = outcomes[index] ?? 'pass'
    return { id: checkId(spec, index), kind: spec.kind, outcome, summary: outcome, output: '', findings: [] }
  })
  return {
    type: 'report_checks',
    attempt: state.attempts,
    submission: state.current?.submission ?? 1,
    reports,
    nonce: freshNonce(),
    suspicions,
  }
}

export interface Opinion {
  accept: boolean
  score?: number
  /** Answers per criterion id; yes where none is given on accept, `no` on the first on reject with `unmet`. */
  met?: Record<string, 'yes' | 'no' | 'cannot_tell'>
  category?: Category
  evidence?: string[]
  /** Whether the evidence was found. */
  resolves?: boolean
  concern?: string
  nextStep?: string
}

/** A well-formed verdict of the judge in this seat. */
export function verdictOf(state: TaskState, opinion: Opinion): Verdict {
  const { panel, spec } = state
  const evidence = opinion.evidence ?? ['core.txt:1']
  return {
    nonce: panel?.nonce ?? '',
    prior: (panel?.points ?? []).map((point) => ({ ref: point.ref, addressed: opinion.accept ? 'yes' : 'no', evidence: [] })),
    criteria: spec.criteria.map((criterion) => ({
      id: criterion.id,
      evidence,
      reasoning: 'looked',
      met: opinion.met?.[criterion.id] ?? 'yes',
    })),
    dimensions: spec.dimensions.map((dimension) => ({
      name: dimension.name,
      reasoning: `about ${dimension.name}`,
      score: opinion.score ?? (opinion.accept ? 4 : 2),
    })),
    verdict: opinion.accept ? 'accept' : 'reject',
    rejection_category: opinion.accept ? null : (opinion.category ?? 'acceptance_gap'),
    concern: opinion.concern ?? (opinion.accept ? 'Fine.' : 'Something is missing.'),
    evidence,
    next_step: opinion.accept ? null : (opinion.nextStep ?? 'Add what is missing.'),
  }
}

type ReplyCommand = Extract<TaskCommand, { type: 'record_reply' }>

export function reply(state: TaskState, seatNumber: number, body: string, resolves = true): ReplyCommand {
  const { panel } = state
  const seat = panel?.seats.find((one) => one.seat === seatNumber)
  if (!panel || !seat) throw new Error(`seat ${seatNumber} was not asked`)
  const pointers = pointersIn(body)
  return {
    type: 'record_reply',
    review: panel.review,
    seat: seatNumber,
    round: seat.round,
    judge: seat.judge,
    reply: { channel: 'text', body },
    resolutions: pointers.map((pointer) => ({ pointer, resolved: resolves, why: resolves ? 'found' : 'not there' })),
    nonce: freshNonce(),
  }
}

export function opine(state: TaskState, seat: number, opinion: Opinion): ReplyCommand {
  return reply(state, seat, JSON.stringify(verdictOf(state, opinion)), opinion.resolves ?? true)
}

export function unreachable(state: TaskState, seatNumber: number): TaskCommand {
  const { type: _type, reply: _reply, resolutions: _resolutions, ...rest } = reply(state, seatNumber, '')
  return { type: 'record_unavailable', ...rest, detail: '503' }
}

type MergeCommand = Extract<TaskCommand, { type: 'report_merge' }>

/** The merge of this content, with a check's outcome on it. */
export function mergedAs(content: Content, outcome: CheckReport['outcome'] = 'pass', commit = 'c1'): MergeCommand['result'] {
  const reports = [{ id: 'regression:mission/other:file-1', kind: 'file', outcome, summary: outcome, output: '', findings: [] }]
  return { kind: 'merged', commit, onto: 'c0', content, reports }
}

export function mergeReport(content: string, result: MergeCommand['result']): MergeCommand {
  return { type: 'report_merge', content, result, nonce: freshNonce(), suspicions: [] }
}

/** Seats that await an answer. */
export function openSeats(state: TaskState): number[] {
  return state.panel?.seats.filter((seat) => seat.status === 'asked').map((seat) => seat.seat) ?? []
}

/** Every open seat answers the same until the review is closed. */
export function allOpine(history: History, opinion: Opinion): History {
  for (let seats = openSeats(history.state); history.state.status === 'in_review' && seats.length > 0; seats = openSeats(history.state)) {
    for (const seat of seats) if (openSeats(history.state).includes(seat)) history.when(opine(history.state, seat, opinion))
  }
  return history
}

/** One whole attempt up to the open review. */
export function attemptUpToReview(history: History, text: string, raw?: string | null): History {
  history.when(start())
  history.when(submit(history.state, text, raw === undefined ? {} : { raw }))
  return history.when(checks(history.state))
}

function pointersIn(body: string): string[] {
  try {
    return evidencePointers(JSON.parse(body) as Verdict)
  } catch {
    return []
  }
}
