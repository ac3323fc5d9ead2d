import { durationMs } from '../../contract/config/duration.ts'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { TaskInput } from '../../contract/task.ts'
import type { Lease } from '../../contract/work.ts'
import { isFinished } from '../../core/task/decide.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { freeFolder } from './attempt/folder-end.ts'
import { hasFolder } from './attempt/left-folder.ts'
import { dependentsOf } from '../gates/behind.ts'
import { type Blocked, evaluateGate, settleGates, stoppedText, tellBlocked } from '../gates/evaluate.ts'
import { lookAtGates, stoppedGate } from '../gates/gates.ts'
import { timesReopened } from '../gates/open-again.ts'
import { reopenMission } from '../mission/finish.ts'
import { inputFrom } from '../task/prefix.ts'
import { taskStream } from '../streams.ts'
import type { LoadedTask } from '../task/task-store.ts'
import type { MissionRow } from '../views/tasks.ts'
import { type Bench, type Runner, settleRefused } from './bench.ts'

/** Dependents that are told at once; what is decided for them shares its way to the disk. */
const parallelDependents = 64

/** How often a command looks for more to tell; the rest is for the next run. */
const settleRounds = 1_000

/** Puts an earlier attempt's snapshot back into the workspace, then says so. */
export const restoreSnapshot: Runner = async (bench, lease) => {
  const { task, attempt, content } = lease.payload as { task: string; attempt: number; content: string }
  const { state } = await bench.tasks.load(task)
  const kept = state?.contents[content]
  if (state && kept && state.restoring?.content === content) {
    if (!(await hasFolder(bench.parts, state.spec))) return void (await bench.parts.journal.release(lease, folderRetryMs(lease)))
    await bench.parts.workspaces.restore(state.spec, kept.snapshot as never)
  }
  const handled = await bench.tasks.handle(task, { type: 'confirm_restored', attempt, content }, { actor: 'runtime', settles: lease })
  await settleRefused(bench, lease, handled)
}

/** Asks again the judges that could not be reached. */
export const retryReview: Runner = async (bench, lease) => {
  const { task } = lease.payload as { task: string }
  const handled = await bench.tasks.handle(
    task,
    { type: 'retry_review', nonce: bench.parts.random.nonce() },
    { actor: 'runtime', settles: lease },
  )
  await settleRefused(bench, lease, handled)
}

/** How long a task that has to wait for its shared folder waits before it looks again. */
const folderRetryMs = (lease: Lease) => Math.min(50 * lease.claims, 2_000)

/** Tells everybody who depends on a task that it ended, or that it is open again; frees its shared folder. */
export const settleDependents: Runner = async (bench, lease) => {
  const { task } = lease.payload as { task: string }
  const loaded = await bench.tasks.load(task)
  const { state } = loaded
  if (state) {
    if ((await freeFolder(bench.parts, state)) === 'later') return void (await bench.parts.journal.release(lease, folderRetryMs(lease)))
    if (!isFinished(state) && state.spec.mission !== undefined) await reopenMission(bench.parts, state.spec.mission, task)
    await settleGates(bench, state, blockedBy(bench))
    if (state.status === 'waiting') await readyOrSkip(bench, task)
    const dependents = await dependentsOf(bench.parts.journal, task)
    for (let start = 0; start < dependents.length; start += parallelDependents) {
      const some = dependents.slice(start, start + parallelDependents)
      await Promise.all(some.map((dependent) => settleOne(bench, loaded, dependent)))
    }
  }
  await bench.parts.journal.complete(lease satisfies Lease)
}

function blockedBy(bench: Bench): Blocked {
  return {
    ready: (task) => readyIfAll(bench, task),
    skip: async (task, because) => {
      await bench.tasks.handle(task, { type: 'skip_task', because }, { actor: 'runtime' })
    },
  }
}

/** The owner's answer to a gate, as it is carried out. */
export interface GateAnswer {
  mission: string
  gate: string
  /** To be opened again, in this order. */
  retried: string[]
  /** How often these had been opened again when the answer was given. */
  seen: Record<string, number>
  by: string
  reason: string
}

const comesBack = new Set<string>(['policy_changed', 'conflict'])

/** Carries out the owner's answer to a gate: weak inputs are opened again, and whatever the gate blocks hears of it. Safe to repeat. */
export const settleGate: Runner = async (bench, lease) => {
  const { mission, gate, retried, seen, by, reason } = lease.payload as GateAnswer
  // The answer opened its run; finished since, it was stopped, and nothing of it is opened again.
  const run = (await bench.parts.journal.viewRow('missions', mission)) as MissionRow | undefined
  for (const task of run?.finished === undefined ? retried : []) {
    // Opened for this answer already, and perhaps ended again since: one answer opens once.
    if ((await timesReopened(bench.parts.journal, task)) !== seen[task]) continue
    const handled = await bench.tasks.handle(task, { type: 'reopen_task', by, reason }, { actor: by })
    // Opened already is what was wanted; under another policy it is done when the run goes on under its own.
    if (!handled.ok && comesBack.has(handled.error.code)) return void (await bench.parts.journal.release(lease, 1_000))
  }
  // Where nothing was left to open, nothing ends for which the gate would look again.
  await evaluateGate(bench, mission, gate)
  await tellBlocked(bench, mission, gate, blockedBy(bench))
  await bench.parts.journal.complete(lease)
}

/** Tells gates and dependents at once what was opened, ended or answered in these missions; what is cut off here, the next run does. */
export async function settleNow(bench: Bench, missions: readonly string[]): Promise<void> {
  const { journal, owner, config } = bench.parts
  const wanted = { owner, kinds: Object.keys(settlers), scopes: [...missions], limit: 16 }
  const leaseMs = durationMs(config.limits.workerLease)
  for (let rounds = 0; rounds < settleRounds; rounds += 1) {
    const leases = await journal.claim({ ...wanted, leaseMs })
    if (leases.length === 0) return
    for (const lease of leases) await settlers[lease.kind]?.(bench, lease, new AbortController().signal)
  }
}

const settlers: Record<string, Runner> = { settle_gate: settleGate, settle_dependents: settleDependents }

/** How often a dependent is told anew because what it depends on moved meanwhile. */
const maxLooks = 25

/** What a dependent is told rests on what it depends on as it was seen: where that has moved, it is told what became of it. */
async function settleOne(bench: Bench, seen: LoadedTask, dependent: string): Promise<void> {
  let upstream = seen
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const { state } = await bench.tasks.load(dependent)
    if (!state || !upstream.state) return
    const { id } = upstream.state.spec
    const command = await toldOf(bench, upstream.state, state)
    if (command === 'look') return readyIfAll(bench, dependent)
    if (command === undefined) return
    const unmoved = { stream: taskStream(id), expected: upstream.version, events: [] }
    const told = await bench.tasks.handle(dependent, command, { actor: 'runtime', alongside: () => [unmoved] })
    if (told.ok && told.state.status === 'waiting') return readyOrSkip(bench, dependent)
    // It was told only now that the input had been open, which has landed meanwhile.
    const landed = told.ok && command.type === 'input_reopened' && inputFrom(upstream.state) !== undefined
    if (!landed && (told.ok || told.error.code !== 'conflict')) return
    upstream = await bench.tasks.load(id)
  }
}

/** What a task is told of another that it depends on; `look` where it looks for itself whether all of them have come. */
async function toldOf(bench: Bench, upstream: TaskState, state: TaskState): Promise<TaskCommand | 'look' | undefined> {
  const { id, title } = upstream.spec
  const input = inputFrom(upstream)
  if (input && state.status === 'skipped')
    return (await hopeless(bench, state)) === undefined
      ? { type: 'reopen_task', by: 'runtime', reason: `its dependency ${id} is done after all` }
      : undefined
  const given = state.inputs.find((one) => one.task === id)
  if (input && state.staleInputs.includes(id)) return { type: 'input_landed', input, nonce: bench.parts.random.nonce() }
  if (input) return given && given.digest !== input.digest && isTold(state) ? { type: 'input_reopened', task: id } : 'look'
  if (upstream.status === 'failed' || upstream.status === 'skipped')
    return state.status === 'waiting' ? { type: 'skip_task', because: `${title} is ${upstream.status}` } : undefined
  return given ? { type: 'input_reopened', task: id } : undefined
}

/** What it works on, or was made of, follows its inputs. */
function isTold({ status, untold }: TaskState): boolean {
  return status !== 'waiting' && status !== 'failed' && status !== 'skipped' && !untold
}

/** A task that was opened again and waits: skipped where what it waits for will never come, ready where all of it has. */
async function readyOrSkip(bench: Bench, task: string): Promise<void> {
  const { state } = await bench.tasks.load(task)
  if (state?.status !== 'waiting') return
  const because = await hopeless(bench, state)
  if (because === undefined) return readyIfAll(bench, task)
  await bench.tasks.handle(task, { type: 'skip_task', because }, { actor: 'runtime' })
}

/** Why a task can never begin: something that it depends on has failed or was skipped, or a gate before it was stopped. */
async function hopeless(bench: Bench, { spec }: TaskState): Promise<string | undefined> {
  for (const dependency of spec.dependsOn) {
    const { state } = await bench.tasks.load(dependency)
    if (state?.status === 'failed' || state?.status === 'skipped') return `${state.spec.title} is ${state.status}`
  }
  const gate = await stoppedGate(bench.parts, spec.mission ?? '', spec.gates ?? [])
  return gate === undefined ? undefined : stoppedText(gate)
}

/**
 * Ready when every dependency is done and every gate is open, as they are when that is written down. The look begins where one was missing last
 * time and ends at the first that is: few of many are looked at.
 */
async function readyIfAll(bench: Bench, dependent: string): Promise<void> {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const { state } = await bench.tasks.load(dependent)
    if (state?.status !== 'waiting') return
    const { dependsOn, gates = [], mission = '' } = state.spec
    const inputs: TaskInput[] = []
    const unmoved: StreamAppend[] = []
    const from = bench.missing.get(dependent) ?? 0
    for (const step of dependsOn.keys()) {
      const at = (from + step) % dependsOn.length
      const task = dependsOn[at] as string
      const ended = await bench.tasks.ended(task)
      if (!ended) return void bench.missing.set(dependent, at)
      inputs[at] = ended.input
      unmoved.push({ stream: taskStream(task), expected: ended.version, events: [] })
    }
    bench.missing.delete(dependent)
    const seen = await lookAtGates(bench.parts, mission, gates)
    if (seen.shut !== undefined) return
    const command = { type: 'ready_task', inputs, ...(gates.length > 0 && { gates }) } as const
    const readied = await bench.tasks.handle(dependent, command, { actor: 'runtime', alongside: () => [...unmoved, ...seen.unmoved] })
    if (readied.ok || readied.error.code !== 'conflict') return
  }
}
