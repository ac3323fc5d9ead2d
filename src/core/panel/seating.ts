import type { PanelSettings } from '../../contract/config/review.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { EligibleJudge, Veto } from '../../contract/review.ts'
import { askedJudges, evolvePanel, type Panel, type PanelRules, unaskedPrincipals } from './state.ts'

type Asked = EventData<'seat.asked'>

/** The quorum in force: the smallest of the one configured, the size and the number of eligible principals. `degraded` where eligibility made it smaller. */
export function quorumInForce(settings: PanelSettings, eligiblePrincipals: number): { quorum: number; degraded: boolean } {
  const wanted = Math.min(settings.quorum, settings.size)
  return { quorum: Math.min(wanted, eligiblePrincipals), degraded: eligiblePrincipals < wanted }
}

/** Vetoes that bind this review; none where the policy knows no veto. */
export function bindingVetoes(rules: PanelRules): readonly Veto[] {
  return rules.settings.veto === 'off' ? [] : rules.vetoes
}

/** Eligible judges in the order in which they take seats: those whose principals hold a veto first, then as routing ordered them. */
export function seatOrder(roster: readonly EligibleJudge[], vetoes: readonly Veto[]): EligibleJudge[] {
  const vetoers = vetoes.flatMap(({ judge, principal }) => {
    const own = roster.filter((eligible) => eligible.principal === principal)
    return own.find((eligible) => eligible.judge === judge) ?? own[0] ?? []
  })
  return [...new Set([...vetoers, ...roster])]
}

/** Seats asked at once when the review opens. Every holder of a veto is among them: without its answer the veto would stand unheard. */
export function openingSeats(panel: Panel, rules: PanelRules): Asked[] {
  const vetoers = new Set(bindingVetoes(rules).map(({ principal }) => principal))
  const holding = new Set(panel.roster.map(({ principal }) => principal).filter((principal) => vetoers.has(principal))).size
  const { mode } = rules.settings
  const everyone = mode === 'full' || panel.suspicious
  const usual = mode === 'escalate' ? Math.max(2, panel.quorum) : panel.quorum
  return furtherSeats(panel, rules, 'opening').slice(0, everyone ? panel.size : Math.max(usual, holding))
}

/**
 * Every seat that may still be asked for the first time, in order.
 * A new principal comes before another agent of one already asked, so that the quorum in force can be met. Only where the roster is
 * shorter than the panel are seats filled with fresh runs of seated judges; a seat whose judge went to replace another is no longer there.
 * Nobody can promise a fresh run of a judge outside: such a judge sits once.
 */
export function furtherSeats(panel: Panel, rules: PanelRules, because: 'opening' | 'escalation'): Asked[] {
  const order = seatOrder(panel.roster, bindingVetoes(rules))
  const seats: Asked[] = []
  let planned = panel
  for (let next = nextSeat(planned, order); next !== undefined; next = nextSeat(planned, order)) {
    const { judge, principal } = next.judge
    const seat = planned.seats.length + 1
    const asked: Asked = { review: panel.review, seat, judge, principal, repeat: next.repeat, round: 1, because }
    seats.push(asked)
    planned = evolvePanel(planned, { type: 'seat.asked', data: asked })
  }
  return seats
}

function nextSeat(panel: Panel, order: readonly EligibleJudge[]): { judge: EligibleJudge; repeat: boolean } | undefined {
  const repeats = panel.seats.filter(({ repeat }) => repeat).length
  if (panel.seats.length < Math.min(panel.size, order.length)) {
    const asked = askedJudges(panel)
    const judge = unaskedPrincipals(panel, order)[0] ?? order.find((eligible) => !asked.has(eligible.judge))
    if (judge) return { judge, repeat: false }
  }
  const repeatable = order.filter(({ outside }) => outside !== true)
  const judge = repeatable[repeats % repeatable.length]
  return judge && repeats < panel.size - order.length ? { judge, repeat: true } : undefined
}
