import type { PanelSettings } from '../../../src/contract/config/review.ts'
import { dimension, grades, panelOf, play, type Reply, rulesOf, scripted } from '../../../src/testing/panel/panel-kit.ts'

/** One judge's levels, one per dimension. */
export type Levels = readonly number[]

export interface Ruling {
  passes: boolean
  calls: number
}

/** Decides on what three judges say, in the order in which they would be asked. */
export type Rule = (judges: readonly Levels[], bar: number) => Ruling

const names = ['a', 'b', 'c']

const mean = (levels: Levels) => levels.reduce((sum, level) => sum + level, 0) / levels.length
export const accepts = (levels: Levels, bar: number) => mean(levels) >= bar

/** The product's own panel with these settings. A judge that vetoes finds a hard criterion unmet, on evidence that is there, whenever it rejects. */
function panel(settings: Partial<PanelSettings>, vetoing = false): Rule {
  return (judges, bar) => {
    const seats = names.slice(0, settings.size ?? 3)
    const rules = rulesOf({ veto: vetoing ? 'evidence' : 'off', ...settings }, { bar, dimensions: dimensionsFor(judges[0]?.length ?? 1) })
    const replies = seats.map((name, index): [string, Reply] => {
      const levels = judges[index] ?? []
      const met = vetoing && !accepts(levels, bar) ? { met: { AC1: { met: 'no' as const, evidence: ['core.txt:1'] } } } : {}
      return [name, grades([...levels], accepts(levels, bar), met)]
    })
    const { end, asked } = play(panelOf(seats, rules), rules, scripted(Object.fromEntries(replies)))
    if (end.kind !== 'decide') throw new Error(`a panel of graded judges came to ${end.kind}`)
    return { passes: end.decision.outcome === 'pass', calls: asked.length }
  }
}

const dimensionsFor = (count: number) => Array.from({ length: count }, (_, index) => dimension(`d${index + 1}`))

const votes = (judges: readonly Levels[], bar: number) => judges.filter((levels) => accepts(levels, bar)).length

/** Two rules by plain counting, to hold the panel's against; the others are the panel's. */
export const rules = {
  single: panel({ size: 1, quorum: 1, mode: 'full' }),
  'majority of 3': (judges, bar) => ({ passes: votes(judges, bar) >= 2, calls: 3 }),
  'median (§7)': panel({ mode: 'full' }),
  escalate: panel({ mode: 'escalate' }),
  curtail: panel({ mode: 'curtail' }),
  unanimous: (judges, bar) => ({ passes: votes(judges, bar) === 3, calls: 3 }),
  veto: panel({ mode: 'full' }, true),
} satisfies Record<string, Rule>

export type RuleName = keyof typeof rules
export const ruleNames = Object.keys(rules) as RuleName[]

/** Rules whose outcome does not hang on the order of the judges. */
export const orderless: ReadonlySet<RuleName> = new Set(['majority of 3', 'median (§7)', 'unanimous', 'veto'])
