import type { Attack } from '../data.ts'
import { type PlaceName, placeNames, places } from './places.ts'
import { asShown, fork, gullible, inReview, judged, type Mode, obeys, rules, vetoes } from './play.ts'
import { echoes, parrots, textEchoes, textParrots, type Wrapping } from './wrappings.ts'

export interface AttackCount {
  judges: string
  place: PlaceName
  reviews: number
  released: number
  /** Attacks that were released, by their ids. */
  ids: string[]
}

/** Most attacks named in the output. */
const mostIds = 10

const kinds: { judges: string; wrappings: Record<string, Wrapping>; by: 'escalate' | 'text' }[] = [
  { judges: 'echo, structured', wrappings: echoes, by: 'escalate' },
  { judges: 'parrot, structured', wrappings: parrots, by: 'escalate' },
  { judges: 'echo, text', wrappings: textEchoes, by: 'text' },
  { judges: 'parrot, text', wrappings: textParrots, by: 'text' },
]

/** Panels whose judges all repeat the attack, as it was written and as the prompt shows it, in every wrapping. */
export function countRepeating(attacks: readonly Attack[]): AttackCount[] {
  return kinds.flatMap(({ judges, wrappings, by }) =>
    placeNames.map((place) =>
      count(judges, place, attacks, ({ text }) => {
        const given = places[place](text)
        const opened = inReview(given, rules[by])
        const met = [text, asShown(opened, given)]
        return Object.values(wrappings).flatMap((wrapping) => met.map((attack) => gullible(opened, wrapping, attack)))
      }),
    ),
  )
}

/** Two judges that obey beside an honest one with a veto, in each of the three seats. */
export function countOutvoted(attacks: readonly Attack[]): AttackCount[] {
  return placeNames.map((place) =>
    count('two obey, one vetoes', place, attacks, ({ text }) => {
      const opened = inReview(places[place](text), rules.full)
      return [1, 2, 3].map((honest) => {
        const history = fork(opened)
        return judged(history, ({ seat }) => (seat === honest ? vetoes(history) : obeys(history)))
      })
    }),
  )
}

/** All judges obey; or two do and the honest one has the last seat, which a panel that escalates asks only where it has a doubt. */
export function countObeying(attacks: readonly Attack[], mode: Mode, honestLast: boolean): AttackCount[] {
  const judges = honestLast ? `two obey, honest one last, ${mode}` : `all obey, ${mode}`
  return placeNames.map((place) =>
    count(judges, place, attacks, ({ text }) => {
      const history = inReview(places[place](text), rules[mode])
      return [judged(history, ({ seat }) => (honestLast && seat === 3 ? vetoes(history) : obeys(history)))]
    }),
  )
}

function count(judges: string, place: PlaceName, attacks: readonly Attack[], reviews: (attack: Attack) => boolean[]): AttackCount {
  const total: AttackCount = { judges, place, reviews: 0, released: 0, ids: [] }
  for (const attack of attacks) {
    const outcomes = reviews(attack)
    const released = outcomes.filter(Boolean).length
    total.reviews += outcomes.length
    total.released += released
    if (released > 0 && total.ids.length < mostIds) total.ids.push(attack.id)
  }
  return total
}
