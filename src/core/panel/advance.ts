import type { EventData } from '../../contract/events/manifest.ts'
import type { Decision, EligibleJudge, Veto } from '../../contract/review.ts'
import { mayStillTurn } from './curtail.ts'
import { cannotTell, decidePanel, unavailableDetail, unreadable, unreadableDetail } from './decision.ts'
import { leavesDoubt } from './doubt.ts'
import { bindingVetoes, furtherSeats, openingSeats, seatOrder } from './seating.ts'
import { gradedPrincipals, mayBeReplaced, type Panel, type PanelRules, type Seat, unaskedPrincipals, type VetoLift } from './state.ts'

export type { PanelRules, VetoLift } from './state.ts'

/** The next step of a panel. `ask` has at least one of its two lists filled. */
export type Advance =
  | { kind: 'ask'; seats: EventData<'seat.asked'>[]; voided: EventData<'seat.voided'>[] }
  | { kind: 'wait' }
  | { kind: 'decide'; decision: Decision; raised: Veto[]; lifted: VetoLift[] }
  | { kind: 'unavailable'; detail: string }
  | { kind: 'cannot_tell'; decision: Decision }
  | { kind: 'unreadable'; detail: string; anyGradedOrAbstained: boolean; decision: Decision }

/**
 * What a panel does next. A new one asks its opening seats. Then every answer is looked at as it comes: an unreadable one is asked for once
 * more, then the judge is replaced, then the seat is void; a judge that cannot be reached is replaced at once. When no seat is open, one
 * more is asked while the quorum is not met or the mode still wants to hear somebody; then the panel ends.
 */
export function advance(panel: Panel, rules: PanelRules): Advance {
  if (panel.seats.length === 0) return { kind: 'ask', seats: openingSeats(panel, rules), voided: [] }
  const repairs = repair(panel, rules)
  if (repairs.seats.length + repairs.voided.length > 0) return { kind: 'ask', ...repairs }
  if (panel.seats.some(({ status }) => status === 'asked')) return { kind: 'wait' }
  const further = furtherSeats(panel, rules, 'escalation').slice(0, 1)
  if (further.length > 0 && wantsMore(panel, rules)) return { kind: 'ask', seats: further, voided: [] }
  return end(panel, rules)
}

/** Asks the unavailable seats again, each at the judge not tried for longest; everything finished is kept. */
export function retrySeats(panel: Panel): EventData<'seat.asked'>[] {
  return panel.seats
    .filter(({ status }) => status === 'unavailable')
    .map((seat) => {
      const judge = seat.unreachable[0] ?? seat.judge
      const principal = panel.roster.find((eligible) => eligible.judge === judge)?.principal ?? seat.principal
      return { ...again(panel, seat), judge, principal, because: 'retry' as const }
    })
}

function repair(panel: Panel, rules: PanelRules): Pick<Extract<Advance, { kind: 'ask' }>, 'seats' | 'voided'> {
  const seats: EventData<'seat.asked'>[] = []
  const voided: EventData<'seat.voided'>[] = []
  const spares = unaskedPrincipals(panel, seatOrder(panel.roster, bindingVetoes(rules)))
  for (const seat of panel.seats) {
    if (seat.status === 'unreadable' && seat.unreadable < 2) {
      seats.push({ ...again(panel, seat), because: 'reprompt', complaint: seat.problem ?? '' })
    } else if (seat.status === 'unreadable' || seat.status === 'unreachable') {
      const spare = mayBeReplaced(seat) ? takeSpare(spares) : undefined
      if (spare) seats.push({ ...again(panel, seat), ...spare, because: 'replacement' })
      else if (seat.status === 'unreadable') voided.push({ review: panel.review, seat: seat.seat, judge: seat.judge })
    }
  }
  return { seats, voided }
}

function wantsMore(panel: Panel, rules: PanelRules): boolean {
  if (gradedPrincipals(panel) < panel.quorum) return true
  if (rules.settings.mode === 'curtail') return mayStillTurn(panel, rules)
  const replacements = panel.seats.filter((seat) => !mayBeReplaced(seat)).length
  return panel.seats.length + replacements < panel.size && leavesDoubt(panel, rules)
}

/** No seat is open and none is to be asked. Only a quorum of grades is a decision about the work. */
function end(panel: Panel, rules: PanelRules): Advance {
  const ended = new Set(panel.seats.map(({ status }) => status))
  if (gradedPrincipals(panel) >= panel.quorum) return { kind: 'decide', ...decidePanel(panel, rules) }
  if (ended.has('unavailable')) return { kind: 'unavailable', detail: unavailableDetail(panel) }
  if (!ended.has('void')) return { kind: 'cannot_tell', decision: cannotTell(panel, rules) }
  const anyGradedOrAbstained = ended.has('graded') || ended.has('abstained')
  return { kind: 'unreadable', detail: unreadableDetail(panel), anyGradedOrAbstained, decision: unreadable(panel, rules) }
}

/** The same seat, one round on. */
function again({ review }: Panel, { seat, judge, principal, repeat, round }: Seat) {
  return { review, seat, judge, principal, repeat, round: round + 1 }
}

/** Takes the next judge off the list, and with it every other agent of its principal. */
function takeSpare(spares: EligibleJudge[]): { judge: string; principal: string; repeat: false } | undefined {
  const [spare] = spares
  if (!spare) return undefined
  const { judge, principal } = spare
  spares.splice(0, spares.length, ...spares.filter((other) => other.principal !== principal))
  return { judge, principal, repeat: false }
}
