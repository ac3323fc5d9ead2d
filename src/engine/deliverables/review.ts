import { type Digest, digestOf } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import { expandChecks } from '../../contract/check.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { DeliverableKind, DeliverableVerdict, Submission } from '../../contract/deliverable/deliverable.ts'
import type { Result } from '../../contract/errors.ts'
import type { Subject } from '../../contract/review.ts'
import type { Score } from '../../contract/score.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { failureOf, submitDeliverable, takenBy, verdictOf } from '../../core/gate/deliverable.ts'
import { standing } from '../../core/gate/release.ts'
import { criteriaOf } from '../../core/mission/criteria.ts'
import { slugOf } from '../../core/mission/ids.ts'
import { criteriaDigest, rubricDigest } from '../../core/policy/policy.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { feedbackText } from '../prompts/worker.ts'
import { changed } from '../work/attempt/changed.ts'
import { givenUpFor, handleDeliverable, loadDeliverable } from './store.ts'
import { triesLeft } from './tries.ts'
import { toldOfRejections } from './turned-down.ts'

/** A version of a deliverable that is brought for review: its bytes are in the snapshot store already. */
export interface BroughtDeliverable {
  deliverable: string
  kind: DeliverableKind
  title: string
  producer: string
  snapshot: Digest
  base: Digest
  /** Digest of the bytes alone. */
  digest: string
  source?: string
  /** What it is for, as judges read it. */
  description?: string
  /** Added to those of the policy, never in their place. Named with the first version; later versions keep them. */
  criteria?: readonly string[]
}

export interface DeliverableReview {
  deliverable: string
  verdict: DeliverableVerdict
  digest: string
  task: string
  /** Tries used and allowed; the failure of the last one is a FAIL. */
  attempt: number
  allowed: number
  score?: Score
  bar: number
  judges: string[]
  /** What to mend, point by point; or what it waits for; or why the owner accepted it. */
  feedback: string
}

/** Reviews a deliverable that belongs to no mission's task, through the same panel, journal and decisions as any task. */
export async function reviewDeliverable(
  engine: Engine,
  brought: BroughtDeliverable,
  stop: AbortSignal,
): Promise<Result<DeliverableReview>> {
  const prepared = await prepare(engine, brought)
  if (!prepared.ok) return prepared
  const { task, state } = prepared.value
  // Nothing is judged again that was decided on exactly these bytes.
  if (state && (state.status === 'done' || (state.status === 'todo' && state.feedback)))
    return { ok: true, value: reviewOf(brought.deliverable, prepared.value.latest, state, engine) }
  const content = await contentOf(engine, brought)
  const submitted = await bring(engine, task, brought.producer, content)
  if (!submitted.ok) return submitted
  const held = new AbortController()
  await engine.run({
    missions: [task.slice(0, task.indexOf('/'))],
    stop: AbortSignal.any([stop, held.signal]),
    onEvent: (event) => {
      if (event.type === 'task.held') held.abort()
    },
  })
  const after = await engine.task(task)
  if (!after) throw new Error(`${task} is gone`)
  return { ok: true, value: reviewOf(brought.deliverable, prepared.value.latest, after, engine) }
}

/** Where the latest version of a deliverable stands. */
export async function deliverableReview(engine: Engine, deliverable: string): Promise<DeliverableReview | undefined> {
  const { state } = await loadDeliverable(engine.parts, deliverable)
  if (!state) return undefined
  const task = await engine.task(state.latest.task)
  return task && reviewOf(deliverable, state.latest, task, engine, await givenUpFor(engine.parts, task))
}

interface Prepared {
  task: string
  /** As it stands, where exactly these bytes were brought before. */
  state: TaskState | undefined
  latest: Submission
}

/** Finds the task that this version is judged in: the one that waits for a revision, or a new one. Records the version before anything is judged. */
async function prepare(engine: Engine, brought: BroughtDeliverable): Promise<Result<Prepared>> {
  const { deliverable, producer, title } = brought
  if (producer.trim() === '' || title.trim() === '') return refused('bad_command', 'a deliverable needs a producer and a title')
  if (producer === 'runtime' || producer === 'owner')
    return refused('bad_command', `nobody brings a deliverable as ${producer}: name the agent that made it`)
  const content = await contentOf(engine, brought)
  const loaded = (await loadDeliverable(engine.parts, deliverable)).state
  const taken = takenBy(loaded, producer)
  if (taken !== undefined) return refused('already_exists', taken)
  const known = loaded?.freed ? undefined : loaded
  const before = known && (await engine.task(known.latest.task))
  if (before && before.spec.outside !== true)
    return refused('wrong_status', `${deliverable} belongs to the task ${before.spec.id} and is reviewed with it`)
  // The same bytes as a change of something else are another thing to judge.
  const same = known?.latest.digest === brought.digest && known.latest.subject.content === content.digest
  const samePolicy = before?.policy === engine.parts.rules.digest
  if (before?.status === 'failed' && samePolicy)
    return refused('attempts_used_up', `${deliverable} has failed ${before.charged} times: the owner may overrule it, or open it again`)
  const fresh = (brought.criteria ?? []).filter((text) => before?.spec.criteria.every((one) => one.text !== text) ?? false)
  if (known && before && samePolicy && before.status === 'done' && same && fresh.length === 0)
    return seenAgain(engine, brought, before, content, known.latest)
  const open = before && samePolicy && before.status !== 'done' ? before : undefined
  if (open && (open.status === 'held' || open.status === 'in_review' || open.status === 'checking') && !same)
    return refused(
      'wrong_status',
      `${deliverable} is under review with other content (${open.hold?.detail ?? open.status}): wait for its decision`,
    )
  if (open && fresh.length > 0)
    return refused('wrong_status', `criteria are named with the first version of a review; new for ${deliverable}: ${fresh.join('; ')}`)
  const left = samePolicy || !before ? engine.parts.config.gate.maxRetries + 1 : await triesLeft(engine, deliverable)
  if (left < 1)
    return refused('attempts_used_up', `${deliverable} has used up its tries; another policy gives new ones only once the owner accepts it`)
  const planned = open?.spec ?? (await toldOfRejections(engine, specOf(engine, brought, before, left), producer, content.digest))
  const submitted = submissionOf(engine, brought, planned, content)
  const turnedDown = same && open ? undefined : await rejectedBefore(engine, submitted.subject)
  if (turnedDown !== undefined)
    return refused(
      'already_exists',
      `exactly this was judged before and rejected (${turnedDown.task}): ${turnedDown.concern}. Change it first`,
    )
  const spec = open?.spec ?? (await startReview(engine, planned))
  if (known && open && same) return { ok: true, value: { task: spec.id, state: open, latest: known.latest } }
  const submission = { ...submitted, task: spec.id }
  const recorded = await handleDeliverable(engine.parts, deliverable, producer, (state) =>
    submitDeliverable(state, deliverable, submission),
  )
  if (!recorded.ok) return recorded
  return { ok: true, value: { task: spec.id, state: undefined, latest: recorded.value.state.latest } }
}

/** Nothing is judged again that was decided on exactly these bytes. Of an address it was just seen that they lie there still: the decision counts from now on. */
async function seenAgain(
  engine: Engine,
  brought: BroughtDeliverable,
  state: TaskState,
  content: Content,
  latest: Submission,
): Promise<Result<Prepared>> {
  const { deliverable, producer, kind } = brought
  const task = state.spec.id
  if (kind !== 'url') return { ok: true, value: { task, state, latest } }
  const submission = submissionOf(engine, brought, state.spec, content)
  const recorded = await handleDeliverable(engine.parts, deliverable, producer, (known) =>
    submitDeliverable(known, deliverable, submission),
  )
  return recorded.ok ? { ok: true, value: { task, state, latest: recorded.value.state.latest } } : recorded
}

/** The rejection that stands on exactly this content, criteria, rubric and policy, under whatever id it was brought. */
async function rejectedBefore(engine: Engine, subject: Subject): Promise<{ task: string; concern: string } | undefined> {
  const row = (await engine.parts.journal.viewRow('subjects', digestOf(subject))) as { task: string } | undefined
  const state = row && (await engine.task(row.task))
  if (!state) return undefined
  const turned = state.rejectedByOwner[subject.content]
  const decision = state.decided.findLast((one) => digestOf(one.subject) === digestOf(subject))?.decision
  if (turned !== undefined) return { task: state.spec.id, concern: turned }
  return decision?.graded && decision.outcome === 'reject' ? { task: state.spec.id, concern: decision.concern } : undefined
}

/** A task of its own, with as many tries as the gate gives. Criteria of an earlier version stay. */
function specOf(engine: Engine, brought: BroughtDeliverable, before: TaskState | undefined, maxAttempts: number): TaskSpec {
  const { config } = engine.parts
  const { deliverable, kind, title, producer, description } = brought
  const own = [...new Set([...config.gate.criteria, ...(before?.spec.criteria.map(({ text }) => text) ?? []), ...(brought.criteria ?? [])])]
  const mission = `deliverable-${slugOf(deliverable)}`
  return {
    id: `${mission}/subject`,
    mission,
    title,
    description: description ?? `Judge this ${kind} as it stands: it is handed to the owner.`,
    assignee: producer,
    outside: true,
    criteria: criteriaOf(own),
    checks: expandChecks(config.checks),
    dimensions: config.review.dimensions,
    bar: config.review.threshold,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' },
    expectsDiff: false,
    depth: 0,
    deliverable: { kind: 'text', id: deliverable },
    terms: { maxAttempts, onExhausted: 'fail', whenNoReviewer: 'hold' },
  }
}

async function startReview(engine: Engine, spec: TaskSpec): Promise<TaskSpec> {
  const started = await engine.start({ id: spec.mission ?? '', name: spec.title, tasks: [spec] }, { fresh: true })
  if (!started.ok) throw new Error(started.error.message)
  return { ...spec, id: `${started.value.mission}/subject`, mission: started.value.mission }
}

function submissionOf(engine: Engine, brought: BroughtDeliverable, spec: TaskSpec, content: Content): Omit<Submission, 'submission'> {
  const { config, rules, clock } = engine.parts
  const { kind, title, producer, snapshot, digest, source } = brought
  const expires = kind === 'url' ? { expires: new Date(clock.now() + durationMs(config.gate.urlVerdictTtl)).toISOString() } : {}
  return {
    kind,
    title,
    producer,
    task: spec.id,
    subject: {
      content: content.digest,
      criteria: criteriaDigest(spec.criteria),
      rubric: rubricDigest(spec.dimensions, spec.bar),
      policy: rules.digest,
    },
    snapshot,
    digest,
    ...(source !== undefined && { source }),
    ...expires,
  }
}

async function contentOf(engine: Engine, { snapshot, base, digest: bytes }: BroughtDeliverable): Promise<Content> {
  const { snapshots } = engine.parts
  const [now, before] = await Promise.all([snapshots.manifest(snapshot), snapshots.manifest(base)])
  if (!now || !before) throw new Error('the deliverable was not stored')
  const paths = changed(before, now)
  return { digest: digestOf({ deliverable: bytes, base }), snapshot, base, paths, output: '', empty: paths.length === 0 }
}

/** The version as an attempt; what a crash left half done is taken up where it was. */
async function bring(engine: Engine, task: string, worker: string, content: Content): Promise<Result<true>> {
  let state = await engine.task(task)
  if (state?.status === 'todo') {
    const started = await engine.handle(
      task,
      { type: 'start_attempt', worker, conversational: false, participants: [], sandboxed: false, outside: true },
      worker,
    )
    if (!started.ok) return refused('wrong_status', started.error.message)
    state = started.state
  }
  if (state?.status !== 'running') return { ok: true, value: true }
  const handled = await engine.handle(task, { type: 'submit_case', attempt: state.attempts, raw: null, content }, worker)
  return handled.ok ? { ok: true, value: true } : refused('wrong_status', handled.error.message)
}

function reviewOf(deliverable: string, latest: Submission, task: TaskState, { parts }: Engine, givenUp?: string): DeliverableReview {
  const { score, bar = task.spec.bar, judges } = standing(task, latest.subject.content)
  const verdict = verdictOf(latest, task)
  const allowed = (task.spec.terms?.maxAttempts ?? parts.rules.policy.review.maxAttempts) + task.granted
  return {
    deliverable,
    verdict,
    digest: latest.digest,
    task: task.spec.id,
    attempt: task.attempts,
    allowed,
    bar,
    judges,
    feedback: feedbackOn(verdict, task, givenUp),
    ...(score && { score }),
  }
}

function feedbackOn(verdict: DeliverableVerdict, task: TaskState, givenUp?: string): string {
  const last = task.ledger.at(-1)
  if (verdict === 'PASS') return ''
  if (verdict === 'OWNER-ACCEPTED') return `the owner accepted it${last?.source === 'owner' ? `: ${last.concern}` : ''}`
  if (task.hold) return task.hold.detail
  if (verdict === 'FAIL' && last?.outcome !== 'reject') return failureOf(task, givenUp)
  const said = task.feedback ? feedbackText(task) : ''
  return said !== '' ? said : (last?.concern ?? task.status)
}

function refused(code: 'already_exists' | 'wrong_status' | 'attempts_used_up' | 'bad_command', message: string): Result<never> {
  return { ok: false, error: { code, message } }
}
