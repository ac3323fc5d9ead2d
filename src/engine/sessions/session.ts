import { type Digest, sha256Hex } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import { expandChecks } from '../../contract/check.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Score } from '../../contract/score.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { criteriaOf } from '../../core/mission/criteria.ts'
import { slugOf } from '../../core/mission/ids.ts'
import { isReviewerRole } from '../../core/routing/organisation.ts'
import { decidedBar, type TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { createTasks, runsOf } from '../mission/missions.ts'
import { notificationsOf } from '../notify/outbox.ts'
import { feedbackText } from '../prompts/worker.ts'
import { asNew } from '../task/task-store.ts'
import { changed } from '../work/attempt/changed.ts'
import { askToAccept, policyUnaccepted, settleQuestion } from './ask-owner.ts'
import type { Beginning } from './beginning.ts'
import { triesUsed } from './rejected.ts'
import { sessionStream } from './stream.ts'

/** A coding agent that says it is done, with its work as it lies in the folder. */
export interface SessionStop {
  agent: string
  session: string
  /** What it was asked, as far as that is known. */
  asked: string
  /** What it says itself. */
  said: string
  /** The folder now, and how the session began. */
  snapshot: Digest
  began: Beginning
  /** Why nothing that is said of the work would be worth anything: what judges it is not as it was, or not all of it is seen. */
  doubt?: string
  /** What judges and checks would load as it stands now, where that is the doubt. */
  doubted?: Digest
  /** Says of a task, before anything of it is judged, where programs of its judges and checks come from. */
  equip?(task: string): void
}

/** What becomes of it. Only `passed` means that somebody judged the work and found it good. */
export type SessionEnd =
  | { kind: 'nothing' }
  | { kind: 'passed'; task: string; score?: Score; bar: number }
  | { kind: 'blocked'; task: string; feedback: string; attempt: number; allowed: number }
  | { kind: 'forced'; task: string; feedback: string; score?: Score; bar: number }
  | { kind: 'unreviewed'; task?: string; reason: string }

/** Whatever kept the work from being reviewed is on record, and told. */
export function sessionUnreviewed(engine: Engine, agent: string, session: string, reason: string, tools?: Digest): Promise<void> {
  const data = { agent, session, reason, ...(tools !== undefined && { tools }) }
  return note(engine, agent, session, { type: 'session.unreviewed', data })
}

/** The agent has not ended, and its work so far was not judged: on record once for each state of the folder, if there is any work. */
export async function sessionBusy(engine: Engine, stop: SessionStop): Promise<void> {
  const { agent, session, snapshot } = stop
  const { base } = await openTask(engine, stop)
  if ((await contentOf(engine, stop, base)).empty) return
  const reason = `the agent had work under way (the folder then: ${snapshot.slice(0, 'sha256:'.length + 16)})`
  const facts = await engine.parts.journal.readStream(sessionStream(agent, session))
  if (facts.some(({ type, data }) => type === 'session.unreviewed' && (data as { reason: string }).reason === reason)) return
  await sessionUnreviewed(engine, agent, session, reason)
}

/** The agent was let go with nothing left to judge, as the folder looked then. */
export function sessionReleased(
  engine: Engine,
  agent: string,
  session: string,
  { hidden, ...seen }: { snapshot: Digest; look: string; hidden: string[] },
): Promise<void> {
  const data = { agent, session, ...seen, ...(hidden.length > 0 && { hidden }) }
  return note(engine, agent, session, { type: 'session.released', data })
}

/** How often a fact is written anew because another writer was first. */
const maxTries = 10

async function note({ parts }: Engine, agent: string, session: string, fact: AssayEvent): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const stream = sessionStream(agent, session)
    const at = new Date(parts.clock.now()).toISOString()
    const event = asNew(fact)
    const streams = [{ stream, expected: await parts.journal.head(stream), events: [event] }]
    if ((await parts.journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, parts.config) })).ok)
      return
  }
}

/**
 * Reviews what a session has changed, as attempts of one task: sent back while tries are left, then let go and put to the owner. What was let go
 * is the ground for whatever the session changes next. Work that nobody could judge is let go as what it is, unreviewed, and on record.
 */
export async function reviewSession(engine: Engine, stop: SessionStop, signal: AbortSignal): Promise<SessionEnd> {
  const changed = policyChanged(engine, stop)
  if (changed !== undefined) return unreviewed(engine, stop, changed)
  if (stop.doubt !== undefined) {
    await sessionUnreviewed(engine, stop.agent, stop.session, stop.doubt, stop.doubted)
    return { kind: 'unreviewed', reason: stop.doubt }
  }
  const mission = missionId(stop.agent, stop.session)
  for (let rounds = 0; rounds < 3; rounds += 1) {
    const { task, base, runs } = await openTask(engine, stop)
    const content = await contentOf(engine, stop, base)
    if (content.empty) return { kind: 'nothing' }
    const unaccepted = await policyUnaccepted(engine)
    if (unaccepted !== undefined) {
      const reason = stop.began.unseen ? `nobody saw this session begin, and ${unaccepted}` : unaccepted
      await askToAccept(engine, mission, stop.agent, reason)
      return unreviewed(engine, stop, reason)
    }
    await settleQuestion(engine, mission)
    const id = task?.spec.id ?? (await startTask(engine, stop, base, runs))
    if (id === undefined) continue
    stop.equip?.(id)
    const brought = await bring(engine, id, stop.agent, content)
    if (brought !== undefined) return unreviewed(engine, stop, brought, id)
    const state = await judged(engine, id, signal)
    // A review that a killed or late hook left open was of other bytes: it is brought to its end, and says nothing of these.
    if (state.current?.content?.snapshot === stop.snapshot) return endOf(engine, stop, state)
    if (signal.aborted) break
  }
  return unreviewed(engine, stop, 'the review of an earlier state of the folder has not ended')
}

/** An agent does not set the bar that its own work is held against. Where nobody saw the session begin, what the owner accepted alone counts. */
function policyChanged({ parts }: Engine, { began }: SessionStop): string | undefined {
  if (began.unseen || began.policy === parts.rules.digest) return undefined
  return 'assay.yaml, or a program that judges, was changed during the session: put it back, or begin a new session once the owner has accepted it (assay policy accept)'
}

/** Lets checks and judges work until there is an end, or somebody is missing. */
async function judged(engine: Engine, id: string, signal: AbortSignal): Promise<TaskState> {
  const held = new AbortController()
  await engine.run({
    missions: [id.slice(0, id.indexOf('/'))],
    stop: AbortSignal.any([signal, held.signal]),
    onEvent: (event) => {
      if (event.type === 'task.held') held.abort()
    },
  })
  const state = await engine.task(id)
  if (!state) throw new Error(`${id} is gone`)
  return state
}

async function endOf(engine: Engine, stop: SessionStop, state: TaskState): Promise<SessionEnd> {
  const { status, done, spec, attempts, hold } = state
  const task = spec.id
  const scored = { ...(done?.score && { score: done.score }), bar: decidedBar(state) }
  if (status === 'done' && (done?.flag === 'clean' || done?.flag === 'owner-accepted')) return { kind: 'passed', task, ...scored }
  const feedback = state.feedback ? feedbackText(state) : (state.ledger.at(-1)?.concern ?? '')
  if (status === 'done' && done?.flag === 'below-threshold') return { kind: 'forced', task, feedback, ...scored }
  if (status === 'todo') {
    const own = spec.terms?.maxAttempts ?? 1
    const before = Math.max(0, engine.parts.config.hook.maxAttempts - own)
    return { kind: 'blocked', task, feedback, attempt: before + attempts, allowed: before + own + state.granted }
  }
  if (status === 'done') return unreviewed(engine, stop, 'nobody reviews here: no other agent is configured, or evaluation is off', task)
  return unreviewed(engine, stop, hold?.detail ?? `the review did not end in time (${status})`, task)
}

/**
 * A pass is of certain bytes: where others lie in the folder by now, they are for the next stop, and nobody calls them good. Nor is it one where there is a
 * doubt about what judged them.
 */
export async function stillThere(engine: Engine, stop: SessionStop, end: SessionEnd, now: Digest, doubt?: string): Promise<SessionEnd> {
  if (end.kind !== 'passed') return end
  if (doubt !== undefined) return unreviewed(engine, stop, doubt, end.task)
  if (now === stop.snapshot) return end
  const { paths } = await contentOf(engine, { ...stop, snapshot: now }, stop.snapshot)
  const more = paths.length - mostNamed
  const named = [...paths.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return unreviewed(engine, stop, `the folder changed while it was reviewed (${named}): what passed is not what lies there now`, end.task)
}

/** Most paths that are written out. */
const mostNamed = 5

async function unreviewed(engine: Engine, { agent, session }: SessionStop, reason: string, task?: string): Promise<SessionEnd> {
  await sessionUnreviewed(engine, agent, session, reason)
  return { kind: 'unreviewed', ...(task !== undefined && { task }), reason }
}

/** What a session's work is brought to. */
interface Opening {
  task?: TaskState
  base: Digest
  /** Tasks that the session has had. */
  runs: number
}

/** The task that the session is being sent back for, if there is one, and the ground that its work is measured against. */
async function openTask(engine: Engine, { agent, session, began, snapshot }: SessionStop): Promise<Opening> {
  const runs = await runsOf(engine.parts, missionId(agent, session))
  const last = runs.at(-1)
  const known = { runs: runs.length }
  // Another stop may be about to make the task, or died before it had: it is made either way.
  if (last && !(await engine.task(`${last.id}/work`))) await createTasks(engine.parts, last.id)
  const state = last && (await engine.task(`${last.id}/work`))
  if (!state) return { ...known, base: began.snapshot }
  const ground = (state.current?.content?.base as Digest | undefined) ?? began.snapshot
  const other = state.current?.content?.snapshot !== snapshot
  if (state.status === 'done') {
    const accepted = state.contents[state.done?.content ?? '']
    return { ...known, base: (accepted?.snapshot as Digest | undefined) ?? ground }
  }
  const stuck = state.status === 'failed' || state.status === 'skipped' || state.policy !== engine.parts.rules.digest
  // What waits for a person or a judge stays with them; work that changed since is looked at anew.
  if (stuck || (state.status === 'held' && other)) return { ...known, base: ground }
  return { ...known, task: state, base: ground }
}

/** Sessions whose ids differ have missions that differ, however alike their ids read. */
function missionId(agent: string, session: string): string {
  const slug = slugOf(session)
  return `${agent}-session-${slug === session ? slug : `${slug}-${sha256Hex(session).slice(0, 8)}`}`
}

/** Tries are counted over all sessions that leave the same ground unmended. Undefined where another stop of the session was first: its task is the one. */
async function startTask(engine: Engine, { agent, session, asked }: SessionStop, base: Digest, runs: number): Promise<string | undefined> {
  const { config } = engine.parts
  const mission = missionId(agent, session)
  const used = await triesUsed(engine, base)
  const spec: TaskSpec = {
    id: `${mission}/work`,
    mission,
    title: titleOf(agent, asked),
    description: asked === '' ? 'Judge the change that the agent made, by what its files and its own words say it was for.' : asked,
    assignee: agent,
    outside: true,
    criteria: criteriaOf(config.hook.criteria),
    checks: expandChecks(config.checks),
    dimensions: config.review.dimensions,
    bar: config.review.threshold,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' },
    expectsDiff: true,
    depth: 0,
    terms: { maxAttempts: Math.max(1, config.hook.maxAttempts - used) },
  }
  const isFirst = async (now: readonly unknown[]) => (now.length > runs ? 'another stop of the session was first' : undefined)
  const started = await engine.start({ id: mission, name: `${agent}: ${session}`, tasks: [spec] }, { fresh: true, unfit: isFirst })
  if (!started.ok && started.error.code === 'unfit') return undefined
  if (!started.ok) throw new Error(started.error.message)
  return `${started.value.mission}/work`
}

function titleOf(agent: string, asked: string): string {
  const line =
    asked
      .split('\n')
      .find((one) => one.trim() !== '')
      ?.trim() ?? ''
  return line === '' ? `Work of ${agent}` : line.length > 120 ? `${line.slice(0, 119)}…` : line
}

async function contentOf(engine: Engine, { snapshot, said }: SessionStop, base: Digest): Promise<Content> {
  const { snapshots } = engine.parts
  const [now, before] = await Promise.all([snapshots.manifest(snapshot), snapshots.manifest(base)])
  if (!now || !before) throw new Error('the folder was not stored')
  const paths = changed(before, now)
  return { digest: snapshot, snapshot, base, paths, output: said, empty: paths.length === 0 }
}

/** The work as an attempt; a review that is under way, or waits for judges, goes on instead. Says what stands in the way. */
async function bring(engine: Engine, task: string, worker: string, content: Content): Promise<string | undefined> {
  let problem: string | undefined
  // Another stop of the session may be first with either step: then its attempt is the one.
  for (let tries = 0; tries < 3; tries += 1) {
    let state = await engine.task(task)
    if (state?.status === 'todo') {
      const started = await engine.handle(
        task,
        { type: 'start_attempt', worker, conversational: false, participants: namesakes(engine, worker), sandboxed: false, outside: true },
        worker,
      )
      problem = started.ok ? undefined : started.error.message
      if (!started.ok) continue
      state = started.state
    }
    if (state?.status !== 'running') return undefined
    const handled = await engine.handle(task, { type: 'submit_case', attempt: state.attempts, raw: null, content }, worker)
    if (handled.ok) return undefined
    problem = handled.error.message
  }
  return problem
}

/** Agents of the organisation that are the same program at work: it does not judge itself under their names. Reviewers that it plays are others. */
function namesakes({ parts }: Engine, worker: string): string[] {
  const { agents, brains } = parts.rules.policy
  return Object.entries(agents).flatMap(([name, { brain, role }]) => {
    const thinks = brains[brain]
    return thinks?.kind === 'agent' && thinks.agent === worker && !isReviewerRole(role) ? [name] : []
  })
}
