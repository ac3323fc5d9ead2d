import type { AssayEvent, EventData } from '../../../contract/events/manifest.ts'
import type { Decision, LedgerEntry } from '../../../contract/review.ts'
import { type Ending, feedbackOnDecision, feedbackOnEnding } from '../../ledger/feedback.ts'
import { evolvePanel, openPanel, type Panel } from '../../panel/state.ts'
import type { DecidedContent, Round, TaskState } from '../state.ts'

/** What the events of a review, and code's own rejections, do to the task: panel, vetoes, decisions, ledger, rounds. */
export function evolveReview(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'review.opened': {
      const { review, suspicions } = event.data
      const opened: TaskState = { ...state, status: 'in_review', reviews: review, panel: openPanel(event.data) }
      return opened.current ? { ...opened, current: { ...opened.current, suspicions } } : opened
    }
    case 'seat.asked':
    case 'verdict.recorded':
    case 'task.eval.unparsed':
    case 'seat.voided':
    case 'judge.unavailable':
      return state.panel ? { ...state, panel: evolvePanel(state.panel, event) } : state
    case 'review.abandoned':
      return abandoned(state, event.data)
    case 'veto.raised':
      return { ...state, vetoes: [...state.vetoes, event.data] }
    case 'veto.lifted': {
      const { criterion, principal } = event.data
      return { ...state, vetoes: state.vetoes.filter((veto) => veto.criterion !== criterion || veto.principal !== principal) }
    }
    case 'review.decided':
      return decided(state, event.data)
    case 'decision.carried':
      return carried(state, event.data)
    case 'decision.reused': {
      const stands = state.decided.find((one) => one.review === event.data.review)
      return stands ? withRejection(state, event.data.attempt, stands.decision) : state
    }
    case 'attempt.rejected': {
      const { attempt, category, detail, reports } = event.data
      const said = withEnding(state, { cause: 'rejected', detail, reports })
      return withEntry(said, { attempt, source: 'mechanical', outcome: 'reject', category, concern: detail, points: [], pointers: [] })
    }
    case 'attempt.failed':
      return withEnding(state, { cause: event.data.failure, detail: event.data.detail, reports: [] })
    case 'attempt.interrupted':
      return withEnding(withoutCutOff(state), { cause: 'interrupted', detail: event.data.detail, reports: [] })
    default:
      return state
  }
}

function abandoned(state: TaskState, { why }: EventData<'review.abandoned'>): TaskState {
  const { panel: _closed, ...rest } = state
  return why === 'unreadable' && rest.current ? { ...rest, current: { ...rest.current, rejudged: true } } : rest
}

function decided(state: TaskState, { review, attempt, decision }: EventData<'review.decided'>): TaskState {
  const { panel, ...rest } = state
  if (!panel) return state
  const { subject, caseDigest } = panel
  const remembered = decision.graded
    ? [...rest.decided, { review, attempt, subject, caseDigest, decision, judges: graders(panel) }]
    : rest.decided
  return withRejection(withEntry({ ...rest, decided: remembered }, entryOf({ review, attempt, decision, subject })), attempt, decision)
}

function entryOf({
  review,
  attempt,
  decision,
  subject,
}: Pick<DecidedContent, 'review' | 'attempt' | 'decision' | 'subject'>): Omit<LedgerEntry, 'entry'> {
  return {
    attempt,
    review,
    source: decision.parse_failed ? 'unreadable' : 'panel',
    outcome: decision.outcome,
    ...(decision.score && { score: decision.score }),
    category: decision.category,
    concern: decision.concern,
    points: decision.points.map((point) => point.text),
    pointers: decision.pointers,
    content: subject.content,
  }
}

/** Judges of another task have said it: it is this task's decision from now on. */
function carried(state: TaskState, { review, attempt, subject, caseDigest, decision, judges }: EventData<'decision.carried'>): TaskState {
  const known: DecidedContent = { review, attempt, subject, caseDigest, decision, judges }
  const remembered = { ...state, reviews: review, decided: [...state.decided, known] }
  return withRejection(withEntry(remembered, entryOf(known)), attempt, decision)
}

function graders({ seats }: Panel): string[] {
  return [...new Set(seats.filter(({ status }) => status === 'graded').map(({ judge }) => judge))]
}

/** A rejection is what the worker hears next, whether it goes back at once or on somebody's word after the end. A graded one is a round; others do not say whether rework moves. */
function withRejection(state: TaskState, attempt: number, decision: Decision): TaskState {
  if (decision.outcome !== 'reject') return state
  const feedback = feedbackOnDecision(state, decision)
  if (!decision.graded || !decision.score || decision.category === null) return { ...state, feedback }
  const round: Round = { attempt, category: decision.category, pointers: decision.pointers, score: decision.score }
  return { ...state, feedback, rounds: [...state.rounds, round] }
}

/** How its turn ended is known now. */
function withoutCutOff(state: TaskState): TaskState {
  if (!state.current?.cutOff) return state
  const { cutOff: _known, ...current } = state.current
  return { ...state, current }
}

function withEnding(state: TaskState, ending: Ending): TaskState {
  return { ...state, feedback: feedbackOnEnding(state.feedback, ending) }
}

export function withEntry(state: TaskState, entry: Omit<LedgerEntry, 'entry'>): TaskState {
  const ledgerCount = state.ledgerCount + 1
  return { ...state, ledgerCount, ledger: [...state.ledger, { entry: ledgerCount, ...entry }] }
}
