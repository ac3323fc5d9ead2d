import { type PanelItem, sample } from '../data.ts'
import { accepts, type Levels, orderless, type RuleName, ruleNames, rules, type Ruling } from './rules.ts'
import { Tally } from './tally.ts'

export interface PanelCount {
  panel: string
  /** What its judges say: one of two things, or levels 1–5 per dimension. */
  kind: 'two-valued' | 'levels'
  items: number
  /** What always answering with the commoner gold would come to. */
  constant: Tally
  tallies: Map<RuleName, Tally>
}

/** A judge that says one of two things says it clearly: away from the bar of 3 by a level. */
const clearly = { yes: [4], no: [2] } satisfies Record<string, Levels>
const bar = 3

interface Counted {
  gold: boolean
  yes: number
  no: number
}

/**
 * A panel whose judges say one of two things. Rulings depend on nothing but the order of answers, so that each of the eight orders is put
 * to the real panel once and counted as often as it occurs among all ordered triples of an item's judges. Judges without a usable verdict
 * are left out.
 */
export function countTwoValued(name: string, items: readonly PanelItem[]): PanelCount {
  const counted = items.flatMap(twoValued)
  const result = emptyCount(name, 'two-valued', counted)
  const patterns = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, bits & 2, bits & 4].map(Boolean))
  for (const rule of ruleNames) {
    const tally = new Tally()
    for (const pattern of rule === 'single' ? [[true], [false]] : patterns) {
      const judges = pattern.map((yes) => (yes ? clearly.yes : clearly.no))
      const ruling = rules[rule](judges, bar)
      const majority = pattern.length === 3 ? rules['majority of 3'](judges, bar).passes : undefined
      for (const item of counted) {
        const weight = occurrences(item, pattern)
        if (weight > 0) tally.add(weight, item.gold, ruling, majority)
      }
    }
    if (tally.panels > 0) result.tallies.set(rule, tally)
  }
  return result
}

/** Values 1 and 0, or 1 and 2: the first is the yes. */
function twoValued({ gold, judges }: PanelItem): Counted[] {
  if (gold === null) return []
  const said = Object.values(judges).filter((value) => value !== null)
  const yes = said.filter((value) => value === 1).length
  return [{ gold: gold === 1, yes, no: said.length - yes }]
}

/** In how many ways judges of this item, one after the other, answer so. */
function occurrences({ yes, no }: Counted, pattern: readonly boolean[]): number {
  const left = { yes, no }
  return pattern.reduce((ways, answer) => {
    const key = answer ? 'yes' : 'no'
    const choices = left[key]
    left[key] -= 1
    return ways * Math.max(0, choices)
  }, 1)
}

function emptyCount(panel: string, kind: PanelCount['kind'], items: readonly { gold: boolean }[]): PanelCount {
  const commoner = items.filter(({ gold }) => gold).length * 2 >= items.length
  const constant = new Tally()
  for (const { gold } of items) constant.add(1, gold, { passes: commoner, calls: 0 })
  return { panel, kind, items: items.length, constant, tallies: new Map() }
}

const triples = [0, 1, 2, 3].flatMap((a) =>
  [0, 1, 2, 3].flatMap((b) => [0, 1, 2, 3].flatMap((c) => (a !== b && b !== c && a !== c ? [[a, b, c]] : []))),
)

/** A panel of four judges with several dimensions on 1–5: every ordered triple of each item of a sample. */
export function countLevels(name: string, items: readonly PanelItem[], barOfPanel: number, most: number): PanelCount {
  const levelled = sample(items.flatMap(withLevels), most).map(({ gold, judges }) => ({ gold: accepts(gold, barOfPanel), judges }))
  const result = emptyCount(`${name}, bar ${barOfPanel}`, 'levels', levelled)
  for (const rule of ruleNames) result.tallies.set(rule, new Tally())
  for (const { gold, judges } of levelled) {
    const known = new Map<string, Ruling>()
    for (const triple of triples) {
      const said = triple.map((index) => judges[index] as Levels)
      const majority = rules['majority of 3'](said, barOfPanel).passes
      for (const rule of ruleNames) {
        const seats = rule === 'single' ? triple.slice(0, 1) : orderless.has(rule) ? triple.toSorted() : triple
        const key = `${rule} ${seats}`
        const ruling = known.get(key) ?? rules[rule](said, barOfPanel)
        known.set(key, ruling)
        result.tallies.get(rule)?.add(1, gold, ruling, majority)
      }
    }
  }
  return result
}

function withLevels({ gold, judges }: PanelItem): { gold: Levels; judges: Levels[] }[] {
  const lists = [gold, ...Object.values(judges)].filter(isLevels)
  const [people, ...said] = lists
  return isLevels(gold) && people && said.length === 4 ? [{ gold: people, judges: said }] : []
}

function isLevels(value: PanelItem['gold']): value is number[] {
  return Array.isArray(value) && value.length === 7 && value.every((level) => Number.isInteger(level) && level >= 1 && level <= 5)
}

/** What `escalate` comes to over all ordered triples of the two-valued panels, and as the mean of the panels. */
export function escalation(counts: readonly PanelCount[]): {
  panels: number
  callsOfAll: number
  callsOfPanels: number
  unlikeMajority: number
} {
  const own = counts.flatMap(({ kind, tallies }) => (kind === 'two-valued' ? (tallies.get('escalate') ?? []) : []))
  const sum = (of: (tally: Tally) => number) => own.reduce((total, tally) => total + of(tally), 0)
  return {
    panels: own.length,
    callsOfAll: sum(({ calls }) => calls) / sum(({ panels }) => panels),
    callsOfPanels: sum(({ callsPerDecision }) => callsPerDecision) / own.length,
    unlikeMajority: sum(({ unlikeMajority }) => unlikeMajority),
  }
}
