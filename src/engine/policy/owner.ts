import type { Rules } from '../../core/task/draft.ts'
import type { Result } from '../../contract/errors.ts'
import { readEvent } from '../../contract/events/read.ts'
import {
  acceptPolicy,
  type Accepting,
  evolveOwner,
  isAccepted,
  namedDifferences,
  noOwner,
  onFirstUse,
  type OwnerState,
  unacceptedDifferences,
} from '../../core/policy/accepted.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { ownerStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'

type Stored = Pick<EngineParts, 'journal'>

/** How often an acceptance is decided anew because another writer was first. */
const maxTries = 25

export interface LoadedOwner {
  state: OwnerState
  version: number
  events: StoredEvent[]
}

/** What was read of each journal's owner, for as long as its stream has not grown: every look of the gate asks. */
const owners = new WeakMap<Stored['journal'], LoadedOwner>()

export async function loadOwner({ journal }: Stored): Promise<LoadedOwner> {
  const known = owners.get(journal)
  if (known && (await journal.head(ownerStream)) === known.version) return known
  const events = await journal.readStream(ownerStream)
  const loaded = { state: events.map(readEvent).reduce(evolveOwner, noOwner), version: events.length, events }
  owners.set(journal, loaded)
  return loaded
}

/** Whether some owner is enrolled in this journal. */
export async function isOwned(parts: Stored): Promise<boolean> {
  return (await loadOwner(parts)).state.token !== undefined
}

/** What a start records of the owner: nothing once the journal knows an owner and a policy. A policy that is not to be trusted is not taken for the first. */
export async function firstUse({ journal, rules, ownerToken }: EngineParts, trusts = true): Promise<StreamAppend[]> {
  const { state, version } = await loadOwner({ journal })
  const events = onFirstUse(state, rules, ownerToken).filter(({ type }) => trusts || type !== 'policy.accepted')
  return events.length === 0 ? [] : [{ stream: ownerStream, expected: version, events: events.map(asNew) }]
}

/** The owner stands behind the policy in force; the door has checked the authority. Resolves to what it says otherwise than the last one did. */
export async function acceptInForce(parts: EngineParts, order: Accepting): Promise<Result<{ differences: string[]; recorded: boolean }>> {
  const { journal, rules, clock, config } = parts
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { state, version } = await loadOwner(parts)
    const differences = unacceptedDifferences(state, rules) ?? []
    const events = acceptPolicy(state, rules, order)
    if (events.length === 0) return { ok: true, value: { differences, recorded: false } }
    const at = new Date(clock.now()).toISOString()
    const streams = [{ stream: ownerStream, expected: version, events: events.map(asNew) }]
    const appended = await journal.append({ streams, meta: { at, actor: order.by }, enqueue: notificationsOf(streams, at, config) })
    if (appended.ok) return { ok: true, value: { differences, recorded: true } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first ${maxTries} times in a row` } }
}

/** Whether the owner stands behind a policy, since when and on whose word; and what the policy in force says otherwise than the last accepted one. */
export interface PolicyStanding {
  digest: string
  accepted: boolean
  since?: string
  by?: string
  how?: 'first' | 'started' | 'word'
  reason?: string
  /** Of the policy in force alone: of another one only its digest is known. */
  differences: string[]
  /** The same in one line. */
  differs: string
}

/** How the owner stands to a policy: the one in force, unless another is named. */
export async function policyStanding(parts: Stored & { rules: Rules }, digest = parts.rules.digest): Promise<PolicyStanding> {
  const { state, events } = await loadOwner(parts)
  const found = events.findLast((event) => event.type === 'policy.accepted' && (event.data as { digest: string }).digest === digest)
  const differences = digest === parts.rules.digest ? (unacceptedDifferences(state, parts.rules) ?? []) : []
  const told = { digest, differences, differs: differences.length === 0 ? '' : namedDifferences(differences) }
  if (!found) return { ...told, accepted: isAccepted(state, digest) }
  const { by, how, reason } = found.data as { by: string; how: NonNullable<PolicyStanding['how']>; reason: string }
  return { ...told, accepted: true, since: found.meta.at, by, how, reason }
}
