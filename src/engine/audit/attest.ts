import type { Envelope } from '../../contract/attest/envelope.ts'
import { hasExpired, type Statement } from '../../contract/attest/statement.ts'
import type { Digest } from '../../contract/canonical.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { Result } from '../../contract/errors.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Policy } from '../../contract/policy.ts'
import { type DecisionFacts, deliverableDecision, expiring, type PlacedEvent, taskDecision } from '../../core/attest/decision.ts'
import { statementOf } from '../../core/attest/statement.ts'
import { evolveDeliverable, type MaybeDeliverable } from '../../core/gate/deliverable.ts'
import { verdictExpiry } from '../../core/gate/verdict-time.ts'
import { unbackedTerms } from '../../core/policy/of-task.ts'
import { evolveAll } from '../../core/task/evolve/evolve.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Signer } from '../../ports/signer.ts'
import { groundOf } from '../deliverables/cards/rests-on.ts'
import type { EngineParts } from '../parts.ts'
import { loadOwner } from '../policy/owner.ts'
import { deliverableStream, missionStream, taskStream } from '../streams.ts'
import { sealStatement } from './envelope.ts'

export type Attested = Result<{ envelope: Envelope; statement: Statement }, string>
type Parts = Pick<EngineParts, 'journal' | 'snapshots' | 'clock'> & {
  config: { gate: Pick<EngineParts['config']['gate'], 'urlVerdictTtl'> }
}

/** Signs what a task was decided as, for those who were not there. Everything in it is read from the journal and the reviewed snapshot. */
export async function attestTask(parts: Parts, task: string, signer: Signer): Promise<Attested> {
  const told = await taskOf(parts, task)
  if (!told) return { ok: false, error: `there is no task ${task}` }
  const facts = taskDecision(told.state, told.placed)
  if (!facts.ok) return { ok: false, error: facts.error.message }
  return attest(parts, expiring(facts.value, await expiryOf(parts, told, facts.value.content.digest)), told.head, signer)
}

/** Until when the latest decision in a task counts, where what it hands over lies at an address, whether it was handed over yet or not. */
async function expiryOf({ journal, config }: Parts, { state, placed }: ToldTask, content: string): Promise<string | undefined> {
  const { id, deliverable, outside } = state.spec
  if (!deliverable) return undefined
  if (deliverable.kind === 'url' && !outside) return verdictExpiry(placed, content, durationMs(config.gate.urlVerdictTtl))
  const events = (await journal.readStream(deliverableStream(deliverable.id ?? id))).map(readEvent)
  const brought = events.findLast((event) => event.type === 'deliverable.submitted' && event.data.task === id)
  return brought?.type === 'deliverable.submitted' ? brought.data.expires : undefined
}

/** The same for the latest version of a deliverable; undefined where there is none of this name. */
export async function attestDeliverable(parts: Parts, deliverable: string, signer: Signer): Promise<Attested | undefined> {
  const stored = await parts.journal.readStream(deliverableStream(deliverable))
  const state = stored.map(readEvent).reduce(evolveDeliverable, undefined as MaybeDeliverable)
  const head = stored.at(-1)
  if (!state || !head) return undefined
  const told = await taskOf(parts, state.latest.task)
  if (!told) return { ok: false, error: `the task ${state.latest.task} that ${deliverable} was reviewed in is missing from the journal` }
  const waivedAt = (digest: string) =>
    stored.findLast(({ type, data }) => type === 'bypass.granted' && (data as { digest: string }).digest === digest)?.meta.at
  const facts = deliverableDecision(state, told.state, told.placed, { now: parts.clock.now(), waivedAt })
  return facts.ok ? attest(parts, facts.value, head, signer) : { ok: false, error: facts.error.message }
}

interface ToldTask {
  state: TaskState
  placed: PlacedEvent[]
  head: StoredEvent
}

async function taskOf({ journal }: Parts, task: string): Promise<ToldTask | undefined> {
  const stored = await journal.readStream(taskStream(task))
  const placed = stored.map((event) => ({ event: readEvent(event), at: event.meta.at }))
  const events = placed.map(({ event }) => event)
  const state = evolveAll(undefined, events)
  const head = stored.at(-1)
  return state && head ? { state, placed, head } : undefined
}

/** Most terms that a statement names one by one. */
const mostTerms = 50

/** A policy that a mission was run under, as it was recorded. */
async function recordedPolicy(journal: Parts['journal'], mission: string | undefined, digest: string): Promise<Policy | undefined> {
  const events = mission === undefined ? [] : await journal.readStream(missionStream(mission))
  const found = events.findLast(({ type, data }) => type === 'policy.recorded' && (data as { digest: string }).digest === digest)
  return (found?.data as { policy: Policy } | undefined)?.policy
}

async function attest({ snapshots, journal, clock }: Parts, told: DecisionFacts, last: StoredEvent, signer: Signer): Promise<Attested> {
  const { terms: task } = told
  if (hasExpired(told.decision, clock.now())) {
    const { id, expires } = told.decision
    return { ok: false, error: `the verdict on ${id} has expired: it counted until ${expires}. What lies there now was not reviewed` }
  }
  const vouches = told.decision.flag === 'clean' || told.decision.flag === 'owner-accepted'
  const { broken } = vouches ? await groundOf(journal, task.id) : { broken: undefined }
  if (broken) return { ok: false, error: `nothing can be attested of ${told.decision.id} for now: ${broken.why}` }
  const recorded = await recordedPolicy(journal, task.mission, told.decision.policy)
  const terms = unbackedTerms((await loadOwner({ journal })).state, told.decision, task, recorded)
  const standing = { policyAccepted: terms.length === 0, ...(terms.length > 0 && { notAccepted: terms.slice(0, mostTerms) }) }
  const facts = { ...told, decision: { ...told.decision, ...standing } }
  const { id, snapshot: digest } = facts.decision
  const snapshot = await snapshots.manifest(digest as Digest)
  if (!snapshot) return { ok: false, error: `the snapshot ${digest} of ${id} is missing: nothing can be attested. See assay audit verify` }
  const { stream, version, hash, position } = last
  const statement = statementOf(facts, snapshot, { stream, version, hash, position })
  if (statement.subject.length === 0) return { ok: false, error: `${id} has neither files nor output that could be attested` }
  return { ok: true, value: { envelope: sealStatement(statement, signer), statement } }
}
