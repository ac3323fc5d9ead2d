import { z } from 'zod'
import { type Handed, handedTask } from '../../core/delegation/plan.ts'
import { judgesOf } from '../../core/delegation/judges.ts'
import { describeScore } from '../../core/score/score.ts'
import type { Result } from '../../contract/errors.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Engine } from '../engine.ts'
import { knownRun, type Started, type StartProblem } from '../mission/missions.ts'
import { namedRequest } from '../mission/requested.ts'
import type { MissionRow, TaskRow } from '../views/tasks.ts'
import { missionStream } from '../streams.ts'
import { beyondBounds, openTaskOf, tooManyUnder } from './bounds.ts'

/** Title of a task made of a goal: a line that a list can show. */
const titleLength = 80

export const Delegation = z.strictObject({
  goal: z.string().trim().min(1).describe('What is to be done.'),
  context: z.string().optional().describe('What whoever does it needs to know.'),
  acceptance_criteria: z
    .union([z.string().trim().min(1), z.array(z.string().trim().min(1)).max(500)])
    .optional()
    .describe('What must be true of the work. Without any nobody judges it.'),
  to: z.string().min(1).optional().describe('Agent that does it; without one, `delegate.agent`.'),
})

/** `delegate_task`: one task, or several in `tasks`. */
export const DelegateCall = z.union([
  Delegation,
  z.strictObject({
    tasks: z.array(Delegation).min(1).describe('Tasks, each with its own criteria; at most `delegate.maxDelegations`.'),
    context: z.string().optional().describe('What all of them need to know.'),
  }),
])
export type DelegateCall = z.infer<typeof DelegateCall>

export const DelegateResult = z.strictObject({
  task_index: z.int().nonnegative(),
  /** Id of the task, to look at or to answer for; absent where it was never made. */
  task: z.string().optional(),
  status: z.enum(['completed', 'failed', 'held']),
  summary: z.string(),
  notice: z.string().optional().describe('Where whoever handed it down cannot judge it: why, and who is asked instead.'),
  /** Only where criteria were given. PASS only for work accepted clean. */
  judge: z.strictObject({ verdict: z.enum(['PASS', 'FAIL']), reasoning: z.string() }).optional(),
})
export type DelegateResult = z.infer<typeof DelegateResult>

export interface Delegating {
  /** Who hands the work down. */
  by: string
  /** The task that the caller is working on, if any: what it hands down is one deeper. */
  parent?: string
  /** Names the call: made again, it hands down nothing new. */
  key?: string
  stop: AbortSignal
}

/**
 * Hands tasks down and waits for the whole rework loop of each. It never throws for what a judge or a worker does, and never passes for want of
 * a judge. The tasks are a mission of their own, in the same journal.
 */
export async function delegateTasks(engine: Engine, call: DelegateCall, { stop, ...from }: Delegating): Promise<Result<DelegateResult[]>> {
  const begun = await beginDelegation(engine, call, from)
  if (!begun.ok) return begun
  const { mission } = begun.value
  for (;;) {
    const position = await engine.parts.journal.position()
    const settled = await runUntilSettled(engine, mission, stop)
    if (settled || stop.aborted) return { ok: true, value: (await delegationStanding(engine, mission))?.results ?? [] }
    // What is left is done or judged outside: whoever that is comes by another door.
    await engine.waitForNews(position, lookMs)
  }
}

/** Longest between two looks at tasks that are done or judged outside. */
const lookMs = 500

/** Whoever delegates is answered as soon as nothing moves but by a judge who comes back, or by a person. False: somebody outside is awaited. */
async function runUntilSettled(engine: Engine, mission: string, stop: AbortSignal): Promise<boolean> {
  const rows = new Map<string, TaskRow>()
  const settled = new AbortController()
  await engine.run({
    missions: [mission],
    stop: AbortSignal.any([stop, settled.signal]),
    onBegin: (known) => {
      for (const row of known) rows.set(row.id, row)
    },
    onEvent: (_event, row) => {
      if (row) rows.set(row.id, row)
      if (rows.size > 0 && allSettled(rows) && hasHeld(rows)) settled.abort()
    },
  })
  return allSettled(rows)
}

const isSettled = new Set<TaskRow['status']>(['held', 'done', 'failed', 'skipped'])
const allSettled = (rows: ReadonlyMap<string, TaskRow>): boolean => [...rows.values()].every(({ status }) => isSettled.has(status))
const hasHeld = (rows: ReadonlyMap<string, TaskRow>): boolean => [...rows.values()].some(({ status }) => status === 'held')

/** Hands tasks down without waiting for them. Whoever runs the mission brings them further. */
export async function beginDelegation(
  engine: Engine,
  call: DelegateCall,
  { by, parent, key }: Omit<Delegating, 'stop'>,
): Promise<Result<{ mission: string }>> {
  const { config } = engine.parts
  const request = key === undefined ? undefined : namedRequest(key, { delegation: call, by, ...(parent !== undefined && { parent }) })
  const known = request && (await knownRun(engine.parts, request))
  if (known) return begun(known)
  const entries = 'tasks' in call ? call.tasks.map((one) => ({ ...one, context: joined(call.context, one.context) })) : [call]
  if (entries.length === 0) return refused('bad_command', 'there is no task to hand down: `tasks` is empty')
  const above = parent === undefined ? await openTaskOf(engine, by) : await engine.task(parent)
  if (parent !== undefined && !above) return refused('not_found', `there is no task ${parent}`)
  const beyond = beyondBounds(config.delegate, entries.length, above)
  if (beyond !== undefined) return refused('bad_command', beyond)
  const specs: TaskSpec[] = []
  for (const [index, entry] of entries.entries()) {
    if ((entry.to ?? config.delegate.agent) === by) return refused('bad_command', `task ${index}: ${by} cannot hand a task down to itself`)
    const made = handedTask(handedOf(entry, index, entries.length), { mission: 'delegation', by, parent: above }, config)
    if (!made.ok) return refused('bad_command', `task ${index}: ${made.error}`)
    const judged = (entry.acceptance_criteria ?? []).length > 0
    const { nobody } = judged ? judgesOf(made.value, engine.parts.rules) : {}
    if (nobody !== undefined) return refused('bad_command', `task ${index}: Judge unavailable: ${nobody}`)
    specs.push({
      ...made.value,
      id: `delegation/${index + 1}`,
      terms: judged ? made.value.terms : { ...made.value.terms, evaluate: false },
    })
  }
  const unfit = (runs: readonly MissionRow[]) => tooManyUnder(engine.parts, runs, specs.length, above)
  return begun(await engine.start({ id: 'delegation', name: `Delegated by ${by}`, tasks: specs }, { fresh: true, request, unfit }))
}

const refusalOf: Partial<Record<StartProblem['code'], 'key_reused' | 'bad_command'>> = { key_reused: 'key_reused', unfit: 'bad_command' }

function begun(started: Result<Started, StartProblem>): Result<{ mission: string }> {
  if (!started.ok) return refused(refusalOf[started.error.code] ?? 'wrong_status', started.error.message)
  return { ok: true, value: { mission: started.value.mission } }
}

const isDelegation = (mission: string): boolean => /^delegation-\d+$/.test(mission)

export interface DelegationStanding {
  by: string
  /** Tasks that may still come to something without anybody's word. */
  open: number
  results: DelegateResult[]
}

/** Where tasks that were handed down together stand, from the journal alone; undefined for what is no delegation. */
export async function delegationStanding(engine: Engine, mission: string): Promise<DelegationStanding | undefined> {
  const events = await engine.parts.journal.readStream(missionStream(mission))
  const started = events.find(({ type }) => type === 'mission.started')?.data as EventData<'mission.started'> | undefined
  const by = /^Delegated by (.*)$/s.exec(started?.name ?? '')?.[1]
  if (!started || by === undefined || !isDelegation(mission)) return undefined
  const results: DelegateResult[] = []
  let open = 0
  for (let index = 0; index < started.tasks; index += 1) {
    const id = `${mission}/${index + 1}`
    const state = await engine.task(id)
    if (!state || !settled.has(state.status)) open += 1
    const judged = state?.spec.terms?.evaluate !== false
    const { instead } = state && judged ? judgesOf(state.spec, engine.parts.rules) : {}
    results.push({ ...resultOf(index, id, state, judged), ...(instead !== undefined && { notice: instead }) })
  }
  return { by, open, results }
}

const settled = new Set<TaskState['status']>(['done', 'failed', 'skipped', 'held'])

function handedOf({ goal, context, acceptance_criteria, to }: z.infer<typeof Delegation>, index: number, of: number): Handed {
  const [line = goal] = goal.split('\n')
  const short = line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line
  return {
    title: of > 1 ? `${index + 1}. ${short}` : short,
    description: joined(goal, context) ?? goal,
    to,
    criteria: typeof acceptance_criteria === 'string' ? [acceptance_criteria] : acceptance_criteria,
  }
}

const joined = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || other === undefined ? (one ?? other) : `${one}\n\n${other}`

function refused(code: 'not_found' | 'bad_command' | 'wrong_status' | 'key_reused', message: string): Result<never> {
  return { ok: false, error: { code, message } }
}

function resultOf(task_index: number, task: string, state: TaskState | undefined, judged: boolean): DelegateResult {
  const ended = state?.status === 'done' ? 'completed' : state?.status === 'failed' || state?.status === 'skipped' ? 'failed' : 'held'
  const summary = state?.current?.case?.summary ?? state?.hold?.detail ?? `the task is ${state?.status ?? 'gone'}`
  const judge = { judge: { verdict: state?.done?.flag === 'clean' ? ('PASS' as const) : ('FAIL' as const), reasoning: reasoningOf(state) } }
  return { task_index, task, status: ended, summary, ...(judged && judge) }
}

function reasoningOf(state: TaskState | undefined): string {
  if (!state) return 'the task is gone'
  if (state.hold?.reason === 'judge_unavailable' || state.hold?.reason === 'no_reviewer') return `Judge unavailable: ${state.hold.detail}`
  if (state.status === 'held') return state.hold?.detail ?? 'it waits for a person'
  const decision = state.decided.at(-1)?.decision
  if (!decision) return state.ledger.at(-1)?.concern ?? 'nobody graded it'
  const score = decision.score ? ` (${describeScore(decision.score)})` : ''
  const points = decision.points.map(({ text }) => text).join(' ')
  return `${decision.concern}${score}${points === '' ? '' : ` Next: ${points}`}`
}
