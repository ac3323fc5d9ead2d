import type { TaskSpec } from '../../contract/task.ts'
import { namedDifferences, unacceptedDifferences } from '../../core/policy/accepted.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { runsOf } from '../mission/missions.ts'
import { loadOwner } from '../policy/owner.ts'

/** Why nothing can pass under the policy in force: the owner does not stand behind it. Undefined where the owner does. */
export async function policyUnaccepted({ parts }: Engine): Promise<string | undefined> {
  const { state } = await loadOwner(parts)
  const differences = unacceptedDifferences(state, parts.rules)
  if (differences === undefined) return undefined
  return `the owner has not accepted the policy in force (${namedDifferences(differences)}): put it back, or the owner accepts it with assay policy accept`
}

/** Puts to the owner that a session waits for the policy to be accepted: one open question for each session, whatever its stops. */
export async function askToAccept(engine: Engine, mission: string, agent: string, reason: string): Promise<void> {
  const state = await questionOf(engine, mission)
  if (state?.status === 'held' && state.policy === engine.parts.rules.digest) return
  if (state?.status === 'todo' && (await hold(engine, state.spec.id, reason))) return
  const id = `${mission}-policy`
  const started = await engine.start(
    { id, name: `${agent}: the policy of its session`, tasks: [questionSpec(engine, id, agent)] },
    { fresh: true, untrusted: true },
  )
  if (!started.ok) throw new Error(started.error.message)
  await hold(engine, `${started.value.mission}/policy`, reason)
}

/** The question is answered by the acceptance itself. */
export async function settleQuestion(engine: Engine, mission: string): Promise<void> {
  const state = await questionOf(engine, mission)
  if (state?.status !== 'held') return
  const reason = 'the owner stands behind the policy in force'
  for (const { request } of state.requests)
    await engine.handle(
      state.spec.id,
      { type: 'answer_request', request, answer: 'retry', by: 'runtime', reason, nonce: engine.parts.random.nonce() },
      'runtime',
    )
}

async function questionOf(engine: Engine, mission: string): Promise<TaskState | undefined> {
  const last = (await runsOf(engine.parts, `${mission}-policy`)).at(-1)
  return last && engine.task(`${last.id}/policy`)
}

async function hold(engine: Engine, task: string, detail: string): Promise<boolean> {
  return (await engine.handle(task, { type: 'hold_task', reason: 'operator', detail }, 'runtime')).ok
}

function questionSpec({ parts }: Engine, mission: string, agent: string): TaskSpec {
  return {
    id: `${mission}/policy`,
    mission,
    title: `Accept the policy that the work of ${agent} is to be judged under`,
    description: 'Nothing is judged here: the work waits for the owner to accept the policy in force, or to put it back.',
    assignee: agent,
    outside: true,
    criteria: [],
    checks: [],
    dimensions: parts.config.review.dimensions,
    bar: parts.config.review.threshold,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' },
    expectsDiff: false,
    depth: 0,
  }
}
