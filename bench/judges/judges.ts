import { type AttackCount, countObeying, countOutvoted, countRepeating } from './attacks/attacks.ts'
import { countLevels, countTwoValued, type PanelCount } from './consensus/consensus.ts'
import { type Attack, attacks, panels, recorded, sample } from './data.ts'
import { countReadings, type ReadingCount } from './reading/reading.ts'

/** How much of the data a run looks at. Readings and two-valued panels are always counted whole. */
export const sizes = {
  quick: { attacks: 6, items: 25 },
  usual: { attacks: 120, items: 300 },
  all: { attacks: Number.POSITIVE_INFINITY, items: Number.POSITIVE_INFINITY },
}
export type Size = (typeof sizes)[keyof typeof sizes]

export interface Findings {
  readings: ReadingCount[]
  attacks: { tried: number; known: number; repeating: AttackCount[]; outvoted: AttackCount[]; obeying: AttackCount[] }
  panels: PanelCount[]
}

export function measure(folder: string, size: Size): Findings {
  const known = attacks(folder)
  const tried = chosen(known, size.attacks)
  return {
    readings: countReadings(recorded(folder)),
    attacks: {
      tried: tried.length,
      known: known.length,
      repeating: countRepeating(tried),
      outvoted: countOutvoted(tried),
      obeying: [...countObeying(tried, 'full', false), ...countObeying(tried, 'escalate', true)],
    },
    panels: panels(folder).flatMap(({ name, items }) => {
      if (items.some(({ gold }) => Array.isArray(gold))) return [3, 4].map((bar) => countLevels(name, items, bar, size.items))
      return items.some(({ gold }) => gold !== null) ? [countTwoValued(name, items)] : []
    }),
  }
}

/** Attacks on judges first: two thirds of a smaller run. */
function chosen(known: readonly Attack[], most: number): Attack[] {
  const direct = sample(
    known.filter(({ target }) => target === 'judge'),
    Math.ceil((most * 2) / 3),
  )
  const others = known.filter(({ target }) => target !== 'judge')
  return [...direct, ...sample(others, most - direct.length)]
}
