import { canonicalJson, type Digest, sha256Hex } from '../../contract/canonical.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { Content } from '../../contract/case.ts'
import type { Card, CardType, Submission } from '../../contract/deliverable/deliverable.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { DeliverableSpec } from '../../contract/mission/deliverable.ts'
import { describeScore } from '../../core/score/score.ts'
import { failureOf, submitDeliverable } from '../../core/gate/deliverable.ts'
import { standing } from '../../core/gate/release.ts'
import { verdictExpiry } from '../../core/gate/verdict-time.ts'
import { criteriaDigest, rubricDigest } from '../../core/policy/policy.ts'
import { decisionOn, type TaskState } from '../../core/task/state.ts'
import type { SnapshotFile } from '../../ports/snapshots.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { asNew } from '../task/task-store.ts'
import { cardStream, taskStream } from '../streams.ts'
import { pagePath } from '../work/attempt/submission.ts'
import type { Bench, Runner } from '../work/bench.ts'
import { cardStreams, emitCard, expireCards } from './emit.ts'
import { recordedCards } from './cards/recorded.ts'
import { deliverableOf } from './cards/taken-back.ts'
import { sentCards } from './inbox.ts'
import { givenUpFor, handleDeliverable, maxTries } from './store.ts'

/** How long work waits that other writers were in the way of. */
const busyRetryMs = 1_000

/**
 * A task with a deliverable has ended. Accepted clean, or on the owner's word, it goes through the gate; below the bar or unreviewed it is put to
 * the owner as a question; failed, as an alert. Safe to repeat: the card is named after the ending. Where other writers are faster time and again,
 * the work comes back.
 */
export const handOver: Runner = async (bench, lease) => {
  const { parts, tasks } = bench
  const { task, again } = lease.payload as { task: string; again?: true }
  const { state } = await tasks.load(task)
  const card = sha256Hex(lease.key).slice(0, 24)
  const shown = !state || (again && (await isShown(parts, state))) ? 'shown' : await showEnding(bench, state, card)
  if (shown === 'busy') return void (await parts.journal.release(lease, busyRetryMs))
  await parts.journal.complete(lease)
}

/** The ending that counts again has its card: the newest of the task, if it was not taken back. */
async function isShown(parts: EngineParts, state: TaskState): Promise<boolean> {
  const cards = await sentCards(parts, deliverableOf(state) ?? '')
  return (cards.find(({ row }) => row.task === state.spec.id)?.row.state ?? 'expired') !== 'expired'
}

type Shown = 'shown' | 'busy'

/** Shows the owner how a task with a deliverable stands, on a card of this name. */
export async function showEnding(bench: Bench, state: TaskState, card: string): Promise<Shown> {
  const { parts } = bench
  const spec = state.spec.deliverable
  const id = deliverableOf(state)
  if (!spec || id === undefined) return 'shown'
  if (state.status === 'failed') {
    if ((await expireCards(parts, id, 'its task has failed', state.spec.id)) === 'busy') return 'busy'
    const body = failureOf(state, await givenUpFor(parts, state))
    return send(bench, state, { card, type: 'error_alert', title: `${state.spec.title}: failed`, body })
  }
  // Open again: its next ending is shown, and what was shown before counts no longer.
  if (state.status !== 'done') {
    const ended = await expireCards(parts, id, 'its decision was turned, or the work was opened again')
    return ended === 'busy' ? 'busy' : 'shown'
  }
  const { flag, content } = state.done ?? {}
  if (!content) return 'shown'
  // What a producer brings itself it also sends itself.
  const standsAlone = state.spec.outside === true
  if (!standsAlone) {
    const problem = await submitPart(bench, state, spec, id, content)
    if (problem !== undefined)
      return send(bench, state, { card, type: 'error_alert', title: `${state.spec.title}: nothing to hand over`, body: problem })
  }
  if (!standsAlone && flag === 'clean' && (await isJudgedAgain(bench, state, content))) return 'shown'
  if (flag === 'clean' || flag === 'owner-accepted') return standsAlone ? 'shown' : sendReport(bench, state, id, card)
  const { score } = state.done ?? {}
  const body =
    flag === 'below-threshold'
      ? `ACCEPTED BELOW QUALITY BAR (${score ? describeScore(score) : 'unscored'}): ${state.ledger.at(-1)?.concern ?? ''}`
      : 'UNREVIEWED: nobody judged this work'
  const cardFlag = flag === 'below-threshold' ? ('below-threshold' as const) : ('unreviewed' as const)
  return send(bench, state, { card, type: 'operator_request', title: state.spec.title, body, flag: cardFlag, deliverable: id })
}

/** What was decided under an older policy is judged under the one in force before it leaves; it is shown when that has come to an end. */
export async function isJudgedAgain({ parts, tasks }: Pick<Bench, 'parts' | 'tasks'>, state: TaskState, content: string): Promise<boolean> {
  if (decisionOn(state, content)) return false
  const reason = 'it was decided under an older policy: it is reviewed under the one in force before it is handed over'
  const again = await tasks.handle(state.spec.id, { type: 'judge_again', nonce: parts.random.nonce(), reason }, { actor: 'runtime' })
  return again.ok
}

/** Through the gate; what it holds back the owner is told of. */
async function sendReport(bench: Bench, state: TaskState, id: string, card: string): Promise<Shown> {
  const request = {
    type: 'report_ready' as const,
    title: state.spec.title,
    body: state.current?.case?.summary ?? '',
    priority: 'normal' as const,
  }
  const emitted = await emitCard(bench.parts, bench.tasks, { ...request, metadata: { deliverableId: id } }, { from: 'runtime', card })
  // Only of work that was looked at before can something have been told.
  if (emitted.ok) return state.granted > 0 || state.reviews > 1 ? endAlerts(bench.parts, state.spec.id) : 'shown'
  if (emitted.code === 'busy') return 'busy'
  // What it rests on was opened meanwhile: it is shown when that has landed.
  if (emitted.code === 'upstream_changed') return 'shown'
  const told = { card: `${card}-refused`, title: `${state.spec.title}: held back`, body: emitted.message, deliverable: id }
  if (emitted.code !== 'policy_not_accepted') return send(bench, state, { ...told, type: 'error_alert' })
  const body = `${emitted.message}, then sends it: assay deliverable send ${id}`
  return send(bench, state, { ...told, type: 'operator_request', body })
}

/** What was told of a task that could not hand over is so no longer: its card is sent. */
export async function endAlerts(parts: Bench['parts'], task: string): Promise<Shown> {
  const { journal, clock, config } = parts
  const alerts = [...(await recordedCards(journal)).values()].filter(
    (row) => row.task === task && row.about === undefined && row.type === 'error_alert' && row.state === 'pending',
  )
  for (const { card } of alerts) {
    const event = asNew({ type: 'card.expired', data: { card, why: 'it was handed over since' } })
    const streams = [{ stream: cardStream(card), expected: await journal.head(cardStream(card)), events: [event] }]
    const at = new Date(clock.now()).toISOString()
    const appended = await journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, config) })
    if (!appended.ok) return 'busy'
  }
  return 'shown'
}

/** A card of the runtime's own: it hands nothing over. */
async function send(
  { parts }: Bench,
  state: TaskState,
  told: Pick<Card, 'card' | 'title' | 'body'> & { type: CardType; flag?: Card['flag']; deliverable?: string },
): Promise<Shown> {
  const { deliverable: _named, ...rest } = told
  const card: Card = { priority: 'high', from: 'runtime', task: state.spec.id, ...rest, ...standing(state, state.done?.content ?? null) }
  if (told.deliverable !== undefined) card.deliverable = told.deliverable
  for (let tries = 0; tries < maxTries; tries += 1) {
    if ((await parts.journal.head(cardStream(card.card))) > 0) return 'shown'
    const at = new Date(parts.clock.now()).toISOString()
    const streams = await cardStreams(parts, card)
    const enqueue = notificationsOf(streams, at, parts.config)
    if ((await parts.journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue })).ok) return 'shown'
  }
  return 'busy'
}

/** Records the part of the accepted work that is the deliverable; or says why there is none. */
async function submitPart(bench: Bench, state: TaskState, spec: DeliverableSpec, id: string, digest: string): Promise<string | undefined> {
  const { parts } = bench
  const content = state.contents[digest]
  if (!content) return 'the accepted content is not known'
  const part = await partOf(bench, spec, content)
  if (typeof part === 'string') return part
  const submission: Omit<Submission, 'submission'> = {
    kind: spec.kind,
    title: state.spec.title,
    producer: state.spec.assignee,
    task: state.spec.id,
    subject: {
      content: digest,
      criteria: criteriaDigest(state.spec.criteria),
      rubric: rubricDigest(state.spec.dimensions, state.spec.bar),
      policy: state.policy,
    },
    snapshot: part.snapshot,
    digest: part.digest,
    ...(spec.kind === 'url' && { source: spec.url, ...(await expiryOf(parts, state.spec.id, digest)) }),
  }
  const recorded = await handleDeliverable(parts, id, 'runtime', (known) => {
    const { submission: _number, ...before } = known?.freed ? { submission: 0 } : (known?.latest ?? { submission: 0 })
    const same = canonicalJson(before) === canonicalJson(submission)
    return same ? { ok: true, value: [] } : submitDeliverable(known, id, submission)
  })
  return recorded.ok ? undefined : recorded.error.message
}

async function expiryOf({ journal, config }: Bench['parts'], task: string, content: string): Promise<{ expires?: string }> {
  const stored = await journal.readStream(taskStream(task))
  const placed = stored.map((event) => ({ event: readEvent(event), at: event.meta.at }))
  const expires = verdictExpiry(placed, content, durationMs(config.gate.urlVerdictTtl))
  return expires === undefined ? {} : { expires }
}

async function partOf({ parts }: Bench, spec: DeliverableSpec, content: Content): Promise<{ snapshot: Digest; digest: string } | string> {
  const { snapshots } = parts
  const manifest = await snapshots.manifest(content.snapshot as Digest)
  const files = manifest?.files ?? []
  if (spec.kind === 'text') {
    const bytes = Buffer.from(content.output ?? '')
    if (bytes.length === 0) return 'the worker printed nothing: there is no text to hand over'
    const digest = await snapshots.putBytes(bytes)
    return { snapshot: await snapshots.compose([{ path: 'text.txt', size: bytes.length, digest, executable: false }]), digest }
  }
  const chosen = chosenFiles(spec, files, content)
  if (chosen.length === 0) return `nothing of the accepted work is at ${'path' in spec ? spec.path : 'the place it should be'}`
  const snapshot = await snapshots.compose(chosen)
  const [only] = chosen
  return { snapshot, digest: (spec.kind === 'file' || spec.kind === 'url') && only ? only.digest : snapshot }
}

function chosenFiles(spec: DeliverableSpec, files: readonly SnapshotFile[], content: Content): SnapshotFile[] {
  if (spec.kind === 'url') return files.filter(({ path }) => path === pagePath)
  if (spec.kind === 'file') return files.filter(({ path }) => path === normal(spec.path))
  if (spec.kind === 'folder') return files.filter(({ path }) => normal(spec.path) === '.' || path.startsWith(`${normal(spec.path)}/`))
  const changed = new Set(content.paths)
  return files.filter(({ path }) => changed.has(path))
}

const normal = (path: string): string => path.replace(/^\.\/+/, '').replace(/\/+$/, '') || '.'
