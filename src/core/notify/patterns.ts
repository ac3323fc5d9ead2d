import type { NotifyRule } from '../../contract/config/notify.ts'
import { eventSchemas } from '../../contract/events/manifest.ts'
import type { Finding } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import { suggest } from '../../contract/source/suggest.ts'
import { fitsPattern, isTold } from './rules.ts'

const told = Object.keys(eventSchemas).filter(isTold)
/** Every pattern that fits something: events, and the nouns above them. */
const patterns = new Set(told.flatMap((type) => [type, ...nounsOf(type).map((noun) => `${noun}.*`)]))

function nounsOf(type: string): string[] {
  const words = type.split('.')
  return words.slice(1).map((_word, index) => words.slice(0, index + 1).join('.'))
}

/** Patterns that fit no event: whoever wrote them would wait for a word that never comes. */
export function patternFindings(rules: readonly Pick<NotifyRule, 'events'>[]): Finding[] {
  return rules.flatMap(({ events }, rule) =>
    events.flatMap((pattern, index): Finding[] => {
      if (told.some((type) => fitsPattern(pattern, type))) return []
      const meant = suggest(pattern, [...patterns])
      const fix = meant === undefined ? 'docs/reference/events.md lists all events' : `did you mean ${named(meant)}?`
      return [{ path: ['notify', 'rules', rule, 'events', index], message: `${named(pattern)} fits no event that is told of`, fix }]
    }),
  )
}
