import { canonicalJson, type Digest } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import { GateSpec } from '../../contract/events/gate.ts'
import type { Bar } from '../../contract/score.ts'
import { TaskSpec } from '../../contract/task.ts'
import type { NewWork } from '../../contract/work.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { decide } from '../../core/task/decide.ts'
import { evolveAll } from '../../core/task/evolve/evolve.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { createGates } from '../gates/gates.ts'
import { reactions } from '../task/reactions.ts'
import { StoreFault } from '../store-fault.ts'
import { firstUse } from '../policy/owner.ts'
import { missionStream, taskStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import type { MissionRow } from '../views/tasks.ts'
import { textOrder } from '../../contract/canonical.ts'
import { type NamedRequest, requestedRun, usesKey } from './requested.ts'

/** Tasks created in one transaction, and tasks in one stored piece of a plan. */
const batch = 500
const piece = 1000

export interface Plan {
  /** Slug of the mission's name; runs of it are numbered. */
  id: string
  name: string
  tasks: TaskSpec[]
  gates?: GateSpec[]
  qualityThreshold?: Bar
  deadline?: string
}

export interface StartOptions {
  /** Another run although one is not finished. */
  fresh?: boolean
  request?: NamedRequest | undefined
  /** Nobody stands behind the policy for this start: it is not taken for the first of the journal. */
  untrusted?: true
  /** Why the plan may not be started, given the runs of it so far. Two starts at once are looked at one after the other. */
  unfit?: (runs: readonly MissionRow[]) => Promise<string | undefined>
}

export type Started = { mission: string; joined: boolean }
export type StartProblem = {
  code: 'other_plan_running' | 'policy_changed' | 'too_fast' | 'not_found' | 'unfit' | 'key_reused'
  message: string
  mission: string
}

/**
 * Starts a run of a mission. A run of the same plan that is not finished is joined instead: two processes on one mission share its work.
 * The plan is stored before anything starts, so that a start cut off by a crash is finished later. A request that was answered before leads to
 * the run that it led to then.
 */
export async function startMission(parts: EngineParts, plan: Plan, options: StartOptions): Promise<Result<Started, StartProblem>> {
  const { journal, rules, clock } = parts
  const { fresh = false, request } = options
  const unfit = plan.tasks.find(({ title, assignee }) => title === '' || assignee === '')
  if (unfit || plan.name === '')
    return startProblem('unfit', plan.id, `${unfit?.id ?? plan.id}: a task needs a title and somebody who does it`)
  const digest = await storePlan(parts, plan)
  for (let tries = 0; tries < 20; tries += 1) {
    const known = request && (await knownRun(parts, request))
    if (known) return known
    const runs = await runsOf(parts, plan.id)
    const open = runs.findLast((run) => run.finished === undefined)
    const meta = { at: new Date(clock.now()).toISOString(), actor: 'owner' }
    if (open && !fresh) {
      if (open.plan !== digest)
        return startProblem('other_plan_running', open.id, `${open.id} is not finished, and the mission file has changed since it started`)
      if (open.policy !== rules.digest) return startProblem('policy_changed', open.id, `${open.id} was started under another policy`)
      const streams = usesKey(request, open.id)
      if (streams.length > 0 && !(await journal.append({ streams, meta })).ok) continue
      await createTasks(parts, open.id)
      return { ok: true, value: { mission: open.id, joined: true } }
    }
    const why = await options.unfit?.(runs)
    if (why !== undefined) return startProblem('unfit', plan.id, why)
    const mission = `${plan.id}-${runs.length + 1}`
    const first = await firstUse(parts, !options.untrusted)
    const streams = [...startOf(parts, mission, plan, { digest, request }), ...usesKey(request, mission), ...first]
    const appended = await journal.append({ streams, meta, enqueue: notificationsOf(streams, meta.at, parts.config) })
    if (!appended.ok) continue
    await createAll(parts, mission, plan)
    return { ok: true, value: { mission, joined: false } }
  }
  return startProblem('too_fast', plan.id, `other processes kept starting runs of ${plan.id}`)
}

/** The run that the same request led to before; a start of it that was cut off is finished. */
export async function knownRun(parts: EngineParts, request: NamedRequest): Promise<Result<Started, StartProblem> | undefined> {
  const known = await requestedRun(parts.journal, request)
  if (!known) return undefined
  const { mission, same } = known
  if (!same) return startProblem('key_reused', mission, `another request came under the same key before, and led to ${mission}`)
  await createTasks(parts, mission)
  return { ok: true, value: { mission, joined: true } }
}

function startOf(
  { rules }: EngineParts,
  mission: string,
  { name, tasks, qualityThreshold, deadline }: Plan,
  { digest, request }: { digest: Digest; request: NamedRequest | undefined },
): StreamAppend[] {
  const started = asNew({
    type: 'mission.started',
    data: {
      ...{ mission, name, policy: rules.digest, plan: digest, tasks: tasks.length },
      ...(qualityThreshold !== undefined && { qualityThreshold }),
      ...(deadline !== undefined && { deadline }),
      ...(request && { key: request.key }),
    },
  })
  const policy = asNew({ type: 'policy.recorded', data: { digest: rules.digest, policy: rules.policy } })
  return [{ stream: missionStream(mission), expected: 0, events: [started, policy] }]
}

/** Stores a plan in pieces: however many tasks there are, no text holds all of them. */
export async function storePlan({ snapshots }: EngineParts, { name, tasks, gates, qualityThreshold, deadline }: Plan): Promise<Digest> {
  const pieces: Digest[] = []
  for (let start = 0; start < tasks.length; start += piece) {
    pieces.push(await snapshots.putText(canonicalJson(tasks.slice(start, start + piece))))
  }
  const more = {
    ...(gates && gates.length > 0 && { gates }),
    ...(qualityThreshold !== undefined && { qualityThreshold }),
    ...(deadline !== undefined && { deadline }),
  }
  return snapshots.putText(canonicalJson({ name, pieces, ...more }))
}

export async function storedPlan(
  parts: EngineParts,
  { id, plan }: Pick<MissionRow, 'id' | 'plan'>,
): Promise<Pick<Plan, 'tasks' | 'gates'>> {
  const stored = async (digest: string) => {
    const text = await parts.snapshots.getText(digest as Digest)
    if (text === undefined) throw new StoreFault(`the plan of ${id} is missing from .assay/objects`)
    return JSON.parse(text)
  }
  const tasks: TaskSpec[] = []
  const { pieces, gates = [] } = (await stored(plan)) as { pieces: string[]; gates?: unknown[] }
  for (const digest of pieces) for (const task of (await stored(digest)) as unknown[]) tasks.push(TaskSpec.parse(task))
  return { tasks, gates: gates.map((gate) => GateSpec.parse(gate)) }
}

export function startProblem(code: StartProblem['code'], mission: string, message: string): { ok: false; error: StartProblem } {
  return { ok: false, error: { code, mission, message } }
}

export async function runsOf(parts: EngineParts, id: string): Promise<MissionRow[]> {
  const rows = await parts.journal.viewRows('missions', { prefix: `${id}-` })
  return rows
    .map(({ row }) => row as MissionRow)
    .filter((row) => /^\d+$/.test(row.id.slice(id.length + 1)))
    .sort((a, b) => Number(a.id.slice(id.length + 1)) - Number(b.id.slice(id.length + 1)))
}

export async function allMissions(parts: EngineParts): Promise<MissionRow[]> {
  const rows = await parts.journal.viewRows('missions')
  return rows.map(({ row }) => row as MissionRow).sort((a, b) => textOrder(a.started, b.started))
}

/**
 * Creates the tasks of a run that do not exist yet, dependents before what they depend on: a task that starts finds all that wait for it.
 * `existing` is how many the caller knows of; where that is all, the plan need not be read.
 */
export async function createTasks(parts: EngineParts, mission: string, existing = 0): Promise<void> {
  const row = (await parts.journal.viewRow('missions', mission)) as MissionRow
  if (row.tasks === existing) return
  await createAll(parts, mission, await storedPlan(parts, row))
  for (const plan of row.added ?? []) await createAll(parts, mission, await storedPlan(parts, { id: mission, plan }), 'late')
}

/** `late`: what the tasks depend on may have ended already, so they hear of it as if it ended now. */
export async function createAll(
  parts: EngineParts,
  mission: string,
  { tasks, gates = [] }: Pick<Plan, 'tasks' | 'gates'>,
  when: 'first' | 'late' = 'first',
): Promise<void> {
  const rename = renamer(mission)
  const named = gates.map((gate) => ({ ...gate, afterTasks: gate.afterTasks.map(rename), blocksTasks: gate.blocksTasks.map(rename) }))
  await createGates(parts, mission, named)
  const order = dependentsFirst(tasks)
  for (let start = 0; start < order.length; start += batch) {
    const some = order.slice(start, start + batch).map((task) => ofRun(task, mission))
    await createBatch(parts, some, when)
  }
}

const renamer = (mission: string) => (id: string) => `${mission}/${id.slice(id.indexOf('/') + 1)}`

/** A task of the plan as a task of this run: ids carry the run. */
function ofRun(spec: TaskSpec, mission: string): TaskSpec {
  const rename = renamer(mission)
  return { ...spec, id: rename(spec.id), mission, dependsOn: spec.dependsOn.map(rename) }
}

function dependentsFirst(specs: readonly TaskSpec[]): TaskSpec[] {
  const byId = new Map(specs.map((spec) => [spec.id, spec]))
  const waiting = new Map(specs.map((spec) => [spec.id, 0]))
  for (const spec of specs) for (const dependency of spec.dependsOn) waiting.set(dependency, (waiting.get(dependency) ?? 0) + 1)
  const free = specs.filter((spec) => waiting.get(spec.id) === 0)
  for (let at = 0; at < free.length; at += 1) {
    for (const dependency of free[at]?.dependsOn ?? []) {
      const left = (waiting.get(dependency) ?? 1) - 1
      waiting.set(dependency, left)
      const spec = byId.get(dependency)
      if (left === 0 && spec) free.push(spec)
    }
  }
  return free
}

async function createBatch(parts: EngineParts, specs: readonly TaskSpec[], when: 'first' | 'late'): Promise<void> {
  const { journal, clock, rules } = parts
  const streams: StreamAppend[] = []
  const enqueue: NewWork[] = []
  for (const spec of specs) {
    if ((await journal.head(taskStream(spec.id))) > 0) continue
    const decided = decide(undefined, { type: 'create_task', spec }, rules)
    if (!decided.ok) throw new Error(`${spec.id}: ${decided.error.message}`)
    const state = evolveAll(undefined, decided.value)
    if (state) enqueue.push(...reactions(decided.value, 1, state))
    streams.push({ stream: taskStream(spec.id), expected: 0, events: decided.value.map(asNew) })
    if (when === 'late') enqueue.push(...spec.dependsOn.map((task) => tellingOf(task, spec)))
  }
  if (streams.length === 0) return
  const appended = await journal.append({ streams, meta: { at: new Date(clock.now()).toISOString(), actor: 'runtime' }, enqueue })
  // Another process that joined the same run was first with some of them: look again.
  if (!appended.ok) await createBatch(parts, specs, when)
}

function tellingOf(task: string, { id, mission = '' }: TaskSpec): NewWork {
  return { key: `${taskStream(id)}+${task}`, kind: 'settle_dependents', scope: mission, priority: 1, payload: { task } }
}
