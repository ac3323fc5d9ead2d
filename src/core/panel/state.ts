import type { PanelSettings } from '../../contract/config/review.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { AskReason, EligibleJudge, PriorPoint, Sitting, Subject, Veto } from '../../contract/review.ts'
import type { Bar, Dimension } from '../../contract/score.ts'
import type { Criterion } from '../../contract/task.ts'
import type { AnswerForm } from '../../contract/verdict.ts'

/**
 * A judge's place in the panel. It is `asked` while an answer is awaited; `unreadable` and `unreachable` wait for the next step
 * (a reprompt, a replacement, the word that there is none); the other four are ends.
 */
export interface Seat {
  seat: number
  judge: string
  principal: string
  /** A fresh run of a judge already seated. */
  repeat: boolean
  form: AnswerForm
  /** How often this seat was asked; an answer counts only for the round it was asked in. */
  round: number
  status: 'asked' | 'unreadable' | 'unreachable' | 'graded' | 'abstained' | 'void' | 'unavailable'
  because: AskReason
  /** Unreadable replies by the current judge at this seat. */
  unreadable: number
  /** Judges that sat here before; at most one replacement is made, so that more than one name means that calls were retried. */
  replaced: string[]
  /** Judges of this seat whose last call reached nobody, the one asked longest ago first. */
  unreachable: string[]
  /** What was wrong with the last call that came to nothing; while asked again, what the judge is told about it. */
  problem?: string
  sitting?: Sitting
}

export interface Panel {
  review: number
  attempt: number
  submission: number
  nonce: string
  subject: Subject
  caseDigest: string
  roster: EligibleJudge[]
  size: number
  quorum: number
  degraded: boolean
  points: PriorPoint[]
  /** Worker text addressed the reviewer: every seat is asked, whatever the mode. */
  suspicious: boolean
  seats: Seat[]
}

/** What decides about a panel: settings and the task's own rules, and the vetoes that stood before this review. */
export interface PanelRules {
  settings: PanelSettings
  criteria: readonly Criterion[]
  dimensions: readonly Dimension[]
  bar: Bar
  vetoes: readonly Veto[]
}

export type VetoLift = EventData<'veto.lifted'>

export function openPanel(opened: EventData<'review.opened'>): Panel {
  const { warnings: _warnings, suspicions, ...panel } = opened
  return { ...panel, suspicious: suspicions.length > 0, seats: [] }
}

/** Takes in what happened at a seat. Events of other reviews, and answers to a round that is no longer open, leave the panel as it is. */
export function evolvePanel(panel: Panel, event: AssayEvent): Panel {
  switch (event.type) {
    case 'seat.asked':
      return event.data.review === panel.review ? concludeUnreachable(seatAsked(panel, event.data)) : panel
    case 'verdict.recorded': {
      const { review, round, sitting } = event.data
      return answered(panel, { review, round, ...sitting }, (seat) => ({ ...reached(seat), status: sitting.outcome, sitting }))
    }
    case 'task.eval.unparsed':
      return answered(panel, event.data, (seat) => ({
        ...reached(seat),
        status: 'unreadable',
        unreadable: seat.unreadable + 1,
        problem: event.data.reason,
      }))
    case 'judge.unavailable':
      return concludeUnreachable(
        answered(panel, event.data, (seat) => ({
          ...seat,
          status: 'unreachable',
          unreachable: [...reached(seat).unreachable, seat.judge],
          problem: event.data.detail,
        })),
      )
    case 'seat.voided': {
      const { review, seat: number, judge } = event.data
      return change(
        panel,
        (seat) => review === panel.review && seat.seat === number && seat.judge === judge && seat.status === 'unreadable',
        (seat) => ({
          ...seat,
          status: 'void',
        }),
      )
    }
    default:
      return panel
  }
}

/** Roster judges that neither sit nor sat in this review, and neither does another agent of the same principal. */
export function unaskedPrincipals(panel: Panel, roster: readonly EligibleJudge[] = panel.roster): EligibleJudge[] {
  const asked = askedJudges(panel)
  const principals = new Set(panel.roster.filter(({ judge }) => asked.has(judge)).map(({ principal }) => principal))
  return roster.filter(({ judge, principal }) => !asked.has(judge) && !principals.has(principal))
}

/** Every agent that was asked in this review, seated or replaced. */
export function askedJudges(panel: Panel): ReadonlySet<string> {
  return new Set(panel.seats.flatMap((seat) => [seat.judge, ...seat.replaced]))
}

/** A seat is replaced at most once, by somebody who has not been asked. */
export function mayBeReplaced(seat: Seat): boolean {
  return seat.replaced.length === 0
}

/** Sittings that are evidence about the work, in the order of their seats. */
export function gradedSittings(panel: Panel): Sitting[] {
  return panel.seats.flatMap(({ status, sitting }) => (status === 'graded' && sitting ? [sitting] : []))
}

/** The quorum counts principals: two sittings of one are one. */
export function gradedPrincipals(panel: Panel): number {
  return new Set(gradedSittings(panel).map(({ principal }) => principal)).size
}

function seatAsked(panel: Panel, asked: EventData<'seat.asked'>): Panel {
  const { seat: number, judge, principal, repeat, round, because, complaint } = asked
  const form = panel.roster.find((eligible) => eligible.judge === judge)?.form ?? 'structured'
  const before = panel.seats.find(({ seat }) => seat === number)
  const sameJudge = before?.judge === judge
  const seat: Seat = {
    seat: number,
    judge,
    principal,
    repeat,
    form,
    round,
    status: 'asked',
    because,
    ...(complaint !== undefined && { problem: complaint }),
    unreadable: sameJudge ? before.unreadable : 0,
    replaced: before ? (sameJudge ? before.replaced : [...new Set([...before.replaced, before.judge])]) : [],
    unreachable: before?.unreachable ?? [],
  }
  return { ...panel, seats: before ? panel.seats.map((old) => (old === before ? seat : old)) : [...panel.seats, seat] }
}

interface Answer {
  review: number
  seat: number
  judge: string
  round: number
}

function answered(panel: Panel, { review, seat: number, judge, round }: Answer, next: (seat: Seat) => Seat): Panel {
  if (review !== panel.review) return panel
  return change(panel, (seat) => seat.seat === number && seat.judge === judge && seat.round === round && seat.status === 'asked', next)
}

/** Where nobody is left to replace a judge that cannot be reached, the seat is unavailable. */
function concludeUnreachable(panel: Panel): Panel {
  const spare = unaskedPrincipals(panel).length > 0
  return change(
    panel,
    (seat) => seat.status === 'unreachable' && !(spare && mayBeReplaced(seat)),
    (seat) => ({ ...seat, status: 'unavailable' }),
  )
}

function reached(seat: Seat): Seat {
  return { ...seat, unreachable: seat.unreachable.filter((judge) => judge !== seat.judge) }
}

function change(panel: Panel, which: (seat: Seat) => boolean, next: (seat: Seat) => Seat): Panel {
  return panel.seats.some(which) ? { ...panel, seats: panel.seats.map((seat) => (which(seat) ? next(seat) : seat)) } : panel
}
