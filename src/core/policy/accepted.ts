import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Rules } from '../task/draft.ts'
import { policyDifferences } from './policy.ts'

/** Whose word counts in a journal, and which policies its owner stands behind, in the order in which they were accepted. */
export interface OwnerState {
  /** Digest of the owner's token; none where no owner is enrolled. */
  token?: string
  accepted: EventData<'policy.accepted'>[]
}

export const noOwner: OwnerState = { accepted: [] }

export function evolveOwner(state: OwnerState, event: AssayEvent): OwnerState {
  switch (event.type) {
    case 'owner.enrolled':
      return { ...state, token: event.data.token }
    case 'policy.accepted':
      return { ...state, accepted: [...state.accepted, event.data] }
    default:
      return state
  }
}

/** Whether the owner stands behind a policy. */
export function isAccepted({ accepted }: OwnerState, digest: string): boolean {
  return accepted.some((one) => one.digest === digest)
}

/** What is recorded of the owner when something is started: the first token is its owner's, the first policy is the one to trust. */
export function onFirstUse(state: OwnerState, { digest, policy }: Rules, token: string | undefined): AssayEvent[] {
  const enrols = state.token === undefined && token !== undefined
  const first: AssayEvent = {
    type: 'policy.accepted',
    data: { digest, policy, how: 'first', by: 'first use', reason: 'the first policy that this journal has seen' },
  }
  return [
    ...(enrols ? [{ type: 'owner.enrolled', data: { token } } satisfies AssayEvent] : []),
    ...(state.accepted.length === 0 ? [first] : []),
  ]
}

export interface Accepting {
  by: string
  reason: string
  how: EventData<'policy.accepted'>['how']
}

/** The owner stands behind the policy in force. Nothing is recorded where that is known; the order's `word` is, so that it counts anew. */
export function acceptPolicy(state: OwnerState, { digest, policy }: Rules, { by, reason, how }: Accepting): AssayEvent[] {
  if (how !== 'word' && isAccepted(state, digest)) return []
  return [{ type: 'policy.accepted', data: { digest, policy, how, by, reason } }]
}

/** What the policy in force says otherwise than the one that the owner accepted last; undefined where the owner stands behind it. */
export function unacceptedDifferences(state: OwnerState, { digest, policy }: Rules): string[] | undefined {
  if (isAccepted(state, digest)) return undefined
  const last = state.accepted.at(-1)
  return last ? policyDifferences(last.policy as Policy, policy) : []
}

/** Most differences that are written out. */
const mostNamed = 4

/** Differences in one line, for people. */
export function namedDifferences(differences: readonly string[]): string {
  if (differences.length === 0) return 'nothing like it was accepted yet'
  const more = differences.length - mostNamed
  return [...differences.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
