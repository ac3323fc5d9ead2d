import type { Sitting, Veto } from '../../contract/review.ts'
import type { CriterionAnswer } from '../../contract/verdict.ts'
import { bindingVetoes } from './seating.ts'
import { gradedPrincipals, gradedSittings, type Panel, type PanelRules, type VetoLift } from './state.ts'

export interface VetoOutcome {
  raised: Veto[]
  lifted: VetoLift[]
  /** What blocks acceptance after this review. */
  standing: Veto[]
}

/** What this review does to vetoes. No score, no majority and no setting aside plays a part in it. */
export function settleVetoes(panel: Panel, rules: PanelRules): VetoOutcome {
  const before = bindingVetoes(rules)
  const raised = raisedVetoes(panel, rules).filter((veto) => !before.some((old) => sameVeto(old, veto)))
  const lifted = before.flatMap((veto) => liftOf(veto, panel) ?? [])
  return { raised, lifted, standing: [...before.filter((veto) => !lifted.some((lift) => sameVeto(lift, veto))), ...raised] }
}

/** `no` on a hard criterion is a veto if at least one pointer of that answer was found where it points. */
function raisedVetoes(panel: Panel, { settings, criteria }: PanelRules): Veto[] {
  const hard = new Set(settings.veto === 'off' ? [] : criteria.filter((criterion) => criterion.hard).map(({ id }) => id))
  const raised: Veto[] = []
  for (const { judge, principal, verdict, resolutions } of gradedSittings(panel)) {
    const found = new Set(resolutions.filter(({ resolved }) => resolved).map(({ pointer }) => pointer))
    for (const answer of verdict?.criteria ?? []) {
      const evidence = answer.evidence.filter((pointer) => found.has(pointer))
      if (answer.met !== 'no' || !hard.has(answer.id) || evidence.length === 0) continue
      const veto = { criterion: answer.id, judge, principal, review: panel.review, evidence }
      const earlier = raised.find((other) => sameVeto(other, veto))
      if (earlier) earlier.evidence = [...new Set([...earlier.evidence, ...evidence])]
      else raised.push(veto)
    }
  }
  return raised
}

/** A veto is lifted by its own principal's `yes`; where that principal could not be heard at all, by the `yes` of everybody who graded. */
function liftOf({ criterion, principal }: Veto, panel: Panel): VetoLift | undefined {
  const own = sittingsOf(principal, panel)
  if (own.length > 0) {
    const answers = own.flatMap((sitting) => answerOn(criterion, sitting) ?? [])
    const gradedYes = own.some((sitting) => sitting.outcome === 'graded' && answerOn(criterion, sitting)?.met === 'yes')
    return gradedYes && answers.every(({ met }) => met === 'yes') ? { criterion, principal, by: 'judge' } : undefined
  }
  const everybody = gradedSittings(panel).every((sitting) => answerOn(criterion, sitting)?.met === 'yes')
  const enough = gradedPrincipals(panel) >= panel.quorum
  return everybody && enough && cannotBeHeard(principal, panel) ? { criterion, principal, by: 'panel' } : undefined
}

/** Its principal was heard on the criterion in this review and did not say yes: nothing later in the review lifts it. */
export function isUpheld({ criterion, principal }: Veto, panel: Panel): boolean {
  return sittingsOf(principal, panel).some((sitting) => (answerOn(criterion, sitting)?.met ?? 'yes') !== 'yes')
}

/** No longer among the eligible, or asked and never reached. One that answered unreadably was heard. */
function cannotBeHeard(principal: string, panel: Panel): boolean {
  const agents = new Set(panel.roster.filter((eligible) => eligible.principal === principal).map(({ judge }) => judge))
  if (agents.size === 0) return true
  const calls = panel.seats.flatMap((seat) =>
    [seat.judge, ...seat.replaced].filter((judge) => agents.has(judge)).map((judge) => ({ seat, judge })),
  )
  return calls.length > 0 && calls.every(({ seat, judge }) => seat.unreachable.includes(judge))
}

function sittingsOf(principal: string, panel: Panel): Sitting[] {
  return panel.seats.flatMap(({ sitting }) => (sitting?.principal === principal ? [sitting] : []))
}

function answerOn(criterion: string, { verdict }: Sitting): CriterionAnswer | undefined {
  return verdict?.criteria.find(({ id }) => id === criterion)
}

function sameVeto(a: Pick<Veto, 'criterion' | 'principal'>, b: Pick<Veto, 'criterion' | 'principal'>): boolean {
  return a.criterion === b.criterion && a.principal === b.principal
}
