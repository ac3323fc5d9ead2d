import type { PolicyStanding } from '../../../engine/policy/owner.ts'
import { oneLine } from '../output.ts'

const ways = {
  first: 'it is the first that this journal has seen',
  started: 'something was started under it with the owner’s authority',
  word: 'the owner said so',
} as const

/** How the owner stands to a policy, in one line. */
export function policyWords({ accepted, since, by = '', how, reason, differs }: PolicyStanding): string {
  if (!accepted) return `NOT ACCEPTED by the owner${differs === '' ? '' : `: ${oneLine(differs, 400)}`}`
  const why = how === undefined ? '' : `, ${ways[how]}`
  const said = how === 'word' && reason ? `: ${oneLine(reason, 300)}` : ''
  return `accepted since ${since ?? 'the beginning'} (${oneLine(by, 60)}${why})${said}`
}
