import { PanelSettings } from '../../contract/config/review.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { EligibleJudge, Sitting, Veto } from '../../contract/review.ts'
import type { Dimension } from '../../contract/score.ts'
import type { Criterion } from '../../contract/task.ts'
import type { Category, CriterionAnswer, EvidenceResolution } from '../../contract/verdict.ts'
import { div, fromDecimal, rational } from '../../core/score/exact.ts'
import { globalScore, reaches, scoreOf } from '../../core/score/score.ts'
import { type Advance, advance } from '../../core/panel/advance.ts'
import { evolvePanel, openPanel, type Panel, type PanelRules, type Seat } from '../../core/panel/state.ts'

/** Builders for tests of panels: rosters, rules, verdicts in one line, and a panel played to its end. */

export type Asked = EventData<'seat.asked'>
export type End = Exclude<Advance, { kind: 'ask' | 'wait' }>

/** A judge of its own principal; `name@principal` makes two agents one principal, `name~` a text judge. */
export function eligible(spec: string): EligibleJudge {
  const [name = '', principal = `p-${name.replace('~', '')}`] = spec.split('@')
  const form = name.endsWith('~') ? 'text' : 'structured'
  return { judge: name.replace('~', ''), principal, standing: 'reviewer', form, shares: 'nothing' }
}

export function dimension(name: string, weight = 1): Dimension {
  return { name, weight, description: `how good the ${name} is` }
}

export const criteria: Criterion[] = [
  { id: 'AC1', text: 'it says hello', hard: true },
  { id: 'AC2', text: 'it is tidy', hard: false },
  { id: 'AC3', text: 'it ends', hard: true },
]

export function rulesOf(settings: Partial<PanelSettings> = {}, rest: Partial<PanelRules> = {}): PanelRules {
  return { settings: PanelSettings.parse(settings), criteria, dimensions: [dimension('craft')], bar: 3, vetoes: [], ...rest }
}

export function openedWith(
  roster: string[],
  rules: PanelRules,
  over: Partial<EventData<'review.opened'>> = {},
): EventData<'review.opened'> {
  const judges = roster.map(eligible)
  const principals = new Set(judges.map(({ principal }) => principal)).size
  const { size } = rules.settings
  const quorum = Math.min(rules.settings.quorum, size, principals)
  return {
    review: 7,
    attempt: 2,
    submission: 1,
    subject: { content: 'c', criteria: 'k', rubric: 'r', policy: 'p' },
    caseDigest: 'case',
    nonce: 'nonce-nonce',
    roster: judges,
    size,
    quorum,
    degraded: quorum < Math.min(rules.settings.quorum, size),
    points: [],
    warnings: [],
    suspicions: [],
    ...over,
  }
}

export function panelOf(roster: string[], rules: PanelRules, over: Partial<EventData<'review.opened'>> = {}): Panel {
  return openPanel(openedWith(roster, rules, over))
}

/** What a judge answers when it is asked. */
export type Reply =
  | { kind: 'grades'; scores: number | number[]; accepts?: boolean; met?: Record<string, Met>; words?: Words }
  | { kind: 'text'; score100: string; feedback?: string }
  | { kind: 'abstains'; on?: string }
  | { kind: 'garbles'; reason?: string }
  | { kind: 'down'; detail?: string }

/** An answer to one criterion: by itself, or with pointers; those that end in `?` do not resolve. */
type Met = CriterionAnswer['met'] | { met: CriterionAnswer['met']; evidence: string[] }
interface Words {
  category?: Category
  concern?: string
  nextStep?: string
  evidence?: string[]
  leansOnUnresolved?: boolean
}

export const grades = (scores: number | number[], accepts?: boolean, more: { met?: Record<string, Met>; words?: Words } = {}): Reply => ({
  kind: 'grades',
  scores,
  ...(accepts !== undefined && { accepts }),
  ...more,
})

export function sittingFrom(seat: Pick<Seat, 'seat' | 'judge' | 'principal'>, reply: Reply, rules: PanelRules): Sitting {
  const { seat: number, judge, principal } = seat
  const place = { seat: number, judge, principal, resolutions: [], contradictsScores: false, leansOnUnresolved: false }
  if (reply.kind === 'text') {
    const score = div(fromDecimal(reply.score100), rational(20))
    const text = { score100: reply.score100, feedback: reply.feedback ?? `text of ${judge}` }
    return { ...place, outcome: 'graded', text, score: scoreOf(score), accepts: reaches(score, rules.bar) }
  }
  if (reply.kind === 'abstains')
    return {
      ...place,
      ...spokenBy(judge, { kind: 'grades', scores: 3, met: { [reply.on ?? 'AC1']: 'cannot_tell' } }, rules),
      outcome: 'abstained',
      accepts: false,
    }
  if (reply.kind !== 'grades') throw new TypeError(`${reply.kind} is no sitting`)
  return { ...place, ...spokenBy(judge, reply, rules), outcome: 'graded' }
}

function spokenBy(judge: string, reply: Extract<Reply, { kind: 'grades' }>, rules: PanelRules) {
  const scores = rules.dimensions.map((_, index) => (typeof reply.scores === 'number' ? reply.scores : (reply.scores[index] ?? 1)))
  const own = globalScore(new Map(rules.dimensions.map(({ name }, index) => [name, rational(scores[index] ?? 1)])), rules.dimensions)
  const accepts = reply.accepts ?? reaches(own, rules.bar)
  const { words = {}, met = {} } = reply
  const answers = rules.criteria.map(({ id }): CriterionAnswer => {
    const given = met[id] ?? 'yes'
    const { met: answer, evidence } = typeof given === 'string' ? { met: given, evidence: [] } : given
    return { id, evidence, reasoning: `${judge} on ${id}`, met: answer }
  })
  const pointers = [...answers.flatMap(({ evidence }) => evidence), ...(words.evidence ?? [])]
  const resolutions: EvidenceResolution[] = pointers.map((pointer) => ({ pointer, resolved: !pointer.endsWith('?'), why: '' }))
  return {
    verdict: {
      nonce: 'nonce-nonce',
      prior: [],
      criteria: answers,
      dimensions: rules.dimensions.map(({ name }, index) => ({ name, reasoning: `${judge} on ${name}`, score: scores[index] ?? 1 })),
      verdict: accepts ? ('accept' as const) : ('reject' as const),
      rejection_category: accepts ? null : (words.category ?? 'half_finished'),
      concern: words.concern ?? `concern of ${judge}`,
      evidence: words.evidence ?? [],
      next_step: accepts ? null : (words.nextStep ?? `advice of ${judge}`),
    },
    score: scoreOf(own),
    accepts,
    contradictsScores: accepts !== reaches(own, rules.bar),
    leansOnUnresolved: words.leansOnUnresolved ?? false,
    resolutions,
  }
}

/** The event that a reply to the open round of a seat becomes. */
export function answerOf(panel: Panel, seat: Seat, reply: Reply, rules: PanelRules): AssayEvent {
  const { review } = panel
  const call = { review, seat: seat.seat, judge: seat.judge, round: seat.round }
  if (reply.kind === 'garbles') return { type: 'task.eval.unparsed', data: { ...call, reason: reply.reason ?? 'no JSON', raw: '?' } }
  if (reply.kind === 'down') return { type: 'judge.unavailable', data: { ...call, detail: reply.detail ?? '503' } }
  return { type: 'verdict.recorded', data: { review, round: seat.round, sitting: sittingFrom(seat, reply, rules), raw: '{}' } }
}

export interface Played {
  end: End
  panel: Panel
  asked: Asked[]
  voided: EventData<'seat.voided'>[]
}

/** Most steps that any panel may take; more would be an endless one. */
const MOST_STEPS = 200

/**
 * Plays a panel to its end. `script` answers each call; `pick` chooses which of the open seats answers next (the first one by default).
 */
export function play(start: Panel, rules: PanelRules, script: (asked: Seat) => Reply, pick: (open: number) => number = () => 0): Played {
  let panel = start
  const asked: Asked[] = []
  const voided: EventData<'seat.voided'>[] = []
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = advance(panel, rules)
    if (next.kind === 'ask') {
      if (next.seats.length + next.voided.length === 0) throw new Error('an ask that asks nothing')
      for (const data of next.voided) panel = evolvePanel(panel, { type: 'seat.voided', data })
      for (const data of next.seats) panel = evolvePanel(panel, { type: 'seat.asked', data })
      asked.push(...next.seats)
      voided.push(...next.voided)
    } else if (next.kind === 'wait') {
      const open = panel.seats.filter(({ status }) => status === 'asked')
      const seat = open[pick(open.length)]
      if (!seat) throw new Error('a panel that waits for nobody')
      panel = evolvePanel(panel, answerOf(panel, seat, script(seat), rules))
    } else {
      return { end: next, panel, asked, voided }
    }
  }
  throw new Error(`a panel that does not end: ${JSON.stringify(panel.seats)}`)
}

/** Replies by judge: one for every call, or one after the other, the last repeated. */
export function scripted(replies: Record<string, Reply | Reply[]>, otherwise: Reply = grades(4)): (asked: Seat) => Reply {
  const calls = new Map<string, number>()
  return ({ judge }) => {
    const call = calls.get(judge) ?? 0
    calls.set(judge, call + 1)
    const own = replies[judge] ?? otherwise
    return Array.isArray(own) ? (own[Math.min(call, own.length - 1)] ?? otherwise) : own
  }
}

export function vetoBy(judge: string, criterion = 'AC1', over: Partial<Veto> = {}): Veto {
  return { criterion, judge, principal: `p-${judge}`, review: 3, evidence: ['a.txt:1'], ...over }
}
