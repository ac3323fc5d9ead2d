import type { Usage } from '../../../contract/verdict.ts'
import type { Lease } from '../../../contract/work.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { BrainPort, WorkEnding, WorkOrder } from '../../../ports/brain.ts'
import { type InputMaterial, type OpenWorkspace, WorkspaceFault } from '../../../ports/workspace.ts'
import { isOutside } from '../../outside/who.ts'
import { lookAtGates } from '../../gates/gates.ts'
import { inputMaterial } from './inputs.ts'
import { freeFolder } from './folder-end.ts'
import { type FolderHold, folderTaken, holdsFolder, stuckDetail } from './folders.ts'
import { cutOffDetail, hasFolder, leftFolder } from './left-folder.ts'
import { termsOf, workerPrompt } from '../../prompts/worker.ts'
import { diskFault } from '../../store-fault.ts'
import { reportEnding } from './submission.ts'
import { openTalk, TurnLost } from './talk.ts'
import { whileUnderWay } from './under-way.ts'
import { type Bench, type Runner, settleRefused } from '../bench.ts'
import { countLateWork } from '../late-usage.ts'

/** How long a task waits before it looks again whether its shared folder is free: a little longer each time, for every look is written down. */
const folderRetryMs = (lease: Lease) => Math.min(100 * lease.claims, 2_000)

/**
 * Runs one worker's turn, at most once. `attempt.started` is durable before the spawn; the same work delivered again finds it open,
 * which means that the turn was cut off, and says so instead of running it a second time.
 */
export const runAttempt: Runner = async (bench, lease, signal) => {
  const { journal, rules } = bench.parts
  const { task } = lease.payload as { task: string }
  const { state } = await bench.tasks.load(task)
  if (state?.status === 'running') return goOn(bench, lease, state, signal)
  if (state?.status === 'failed' && wasCutOff(lease, state)) return interrupted(bench, lease, state)
  if (state?.status !== 'todo') {
    // The task was ended in the middle of a turn, and so was the process that would have counted it.
    if (state?.current?.work === lease.key) await countLateWork(bench, state, undefined)
    return void (await journal.complete(lease))
  }
  if (signal.aborted) return void (await journal.release(lease, 0))

  const agent = rules.policy.agents[state.spec.assignee]
  if (!agent) return void (await journal.complete(lease))
  const gates = await lookAtGates(bench.parts, state.spec.mission ?? '', state.spec.gates ?? [])
  if (gates.shut !== undefined) {
    const blocked = await bench.tasks.handle(task, { type: 'block_task', gate: gates.shut }, { actor: 'runtime', settles: lease })
    return settleRefused(bench, lease, blocked)
  }
  // A worker outside takes its task itself.
  if (state.spec.outside || isOutside(rules.policy, state.spec.assignee)) return void (await journal.complete(lease))
  const brain = await bench.brain(agent.brain)
  const inputs = await inputMaterial(bench, state)
  const folder = await holdsFolder(bench.parts, state.spec)
  if (folder.kind === 'busy') return afterBusy(bench, lease, folder)
  if (folder.kind === 'stuck') return afterStuck(bench, lease, folder)
  // A shared folder is looked at only once it is taken: until then another task may be writing in it.
  const openWorkspace = async () => {
    if (state.behind) await bench.parts.workspaces.integration(state.spec)?.catchUp()
    return bench.parts.workspaces.open(state.spec, inputs)
  }
  const prepared = folder.kind === 'free' ? undefined : await orStuck(folder, openWorkspace)
  if (prepared && 'stuck' in prepared) {
    const hold = { type: 'hold_task', reason: 'operator', detail: prepared.stuck } as const
    return settleRefused(bench, lease, await bench.tasks.handle(task, hold, { actor: 'runtime', settles: lease }))
  }
  const started = await bench.tasks.handle(
    task,
    {
      type: 'start_attempt',
      worker: state.spec.assignee,
      conversational: brain.conversational,
      participants: [],
      sandboxed: await bench.parts.sandboxed(),
      work: lease.key,
    },
    { actor: state.spec.assignee, alongside: () => [...folderTaken(folder, state.spec), ...gates.unmoved] },
  )
  if (!started.ok)
    return started.error.code === 'conflict'
      ? void (await journal.release(lease, folderRetryMs(lease)))
      : settleRefused(bench, lease, started)

  const workspace = prepared ?? (await openWorkspace())
  await takeTurn(bench, lease, started.state, { brain, inputs, workspace }, signal)
}

/** The task failed while this turn was under way, and whoever had it is gone: a process that lives completes its work itself. */
function wasCutOff({ key, claims }: Lease, { current }: TaskState): boolean {
  const hadTurn = current?.work === key && current.case === undefined && !current.counted
  return claims > 1 && hadTurn && (!current.conversational || current.callOpen)
}

/** Another task has the folder. Where nobody goes on with that one, it gives the folder up, or a person is asked. */
async function afterBusy(bench: Bench, lease: Lease, { task: holder }: Extract<FolderHold, { kind: 'busy' }>): Promise<void> {
  const { task } = lease.payload as { task: string }
  const { state } = await bench.tasks.load(holder)
  if (!state || (await leftFolder(bench.parts, state)) !== 'cut_off')
    return void (await bench.parts.journal.release(lease, folderRetryMs(lease)))
  const hold = { type: 'hold_task', reason: 'operator', detail: cutOffDetail(state) } as const
  return settleRefused(bench, lease, await bench.tasks.handle(task, hold, { actor: 'runtime', settles: lease }))
}

/** What another task left in the folder could not be put back: it is tried again, and where it still cannot be, a person is asked. */
async function afterStuck(bench: Bench, lease: Lease, folder: Extract<FolderHold, { kind: 'stuck' }>): Promise<void> {
  const { task } = lease.payload as { task: string }
  const { state } = await bench.tasks.load(folder.task)
  if (!state || (await freeFolder(bench.parts, state)) !== 'stuck')
    return void (await bench.parts.journal.release(lease, folderRetryMs(lease)))
  const hold = { type: 'hold_task', reason: 'operator', detail: stuckDetail(folder) } as const
  return settleRefused(bench, lease, await bench.tasks.handle(task, hold, { actor: 'runtime', settles: lease }))
}

/** A shared folder whose files cannot be written is for a person to look at: no other task needs to end for it. */
async function orStuck(folder: FolderHold, open: () => Promise<OpenWorkspace>): Promise<OpenWorkspace | { stuck: string }> {
  try {
    return await open()
  } catch (error) {
    if (folder.kind !== 'own' || !(error instanceof WorkspaceFault) || error.code !== 'io') throw error
    return { stuck: `the folder ${folder.folder} cannot be used: ${error.message}. Make its files writable, then answer retry` }
  }
}

/**
 * The same work delivered again, or the sequel of failing checks. A conversational worker between two tool calls goes on where it was;
 * any other turn was cut off in the middle.
 */
async function goOn(bench: Bench, lease: Lease, state: TaskState, signal: AbortSignal): Promise<void> {
  const { current, spec } = state
  const { resumes } = lease.payload as { resumes?: number }
  if (current?.work !== lease.key && resumes !== current?.submission) return void (await bench.parts.journal.complete(lease))
  const agent = bench.parts.rules.policy.agents[spec.assignee]
  if (current?.outside) return void (await bench.parts.journal.complete(lease))
  if (!current?.conversational || current.callOpen || !agent) return interrupted(bench, lease, state)
  if (signal.aborted) return void (await bench.parts.journal.release(lease, 0))
  if (!(await hasFolder(bench.parts, spec))) return void (await bench.parts.journal.release(lease, folderRetryMs(lease)))
  const inputs = await inputMaterial(bench, state)
  const workspace = await bench.parts.workspaces.open(spec, inputs)
  await takeTurn(bench, lease, state, { brain: await bench.brain(agent.brain), inputs, workspace }, signal)
}

interface Seat {
  brain: BrainPort
  inputs: readonly InputMaterial[]
  workspace: OpenWorkspace
}

async function takeTurn(
  bench: Bench,
  lease: Lease,
  state: TaskState,
  { brain, inputs, workspace }: Seat,
  signal: AbortSignal,
): Promise<void> {
  const { policy } = bench.parts.rules
  const { spec, current } = state
  const order: WorkOrder = {
    task: spec,
    agent: spec.assignee,
    instructions: policy.agents[spec.assignee]?.instructions,
    attempt: state.attempts,
    prompt: workerPrompt(state, inputs, termsOf(bench.parts.config)),
    workspace: workspace.path,
    ...(current?.conversational && { talk: await openTalk(bench, lease, state, workspace) }),
  }
  let ending = await turn(bench, brain, order, signal)
  if (ending.kind === 'failed' && ending.beforeEffect && !signal.aborted) ending = await turn(bench, brain, order, signal)
  if (ending.kind === 'handed_in') return
  if (ending.kind === 'lost') return countLateWork(bench, state, ending.usage)
  // Between two tool calls nothing is cut off: the same attempt goes on later.
  const { state: now } = await bench.tasks.load(spec.id)
  if (ending.kind === 'stopped' && now?.status === 'running' && now.current?.conversational && !now.current.callOpen)
    return void (await bench.parts.journal.release(lease, 0))
  await reportEnding(bench, lease, state, workspace, ending)
  if (ending.usage) await countLateWork(bench, state, ending.usage)
}

/** The turn was somebody else's by the time that the worker said something. */
interface Lost {
  kind: 'lost'
  usage: Usage | undefined
}

/** A brain that throws has a bug; what it did before is not known, so the attempt fails and is not repeated. */
async function turn({ parts }: Bench, brain: BrainPort, order: WorkOrder, signal: AbortSignal): Promise<WorkEnding | Lost> {
  try {
    return await whileUnderWay(parts, order.task.id, () => brain.work(order, signal))
  } catch (error) {
    const fault = diskFault(error)
    if (fault) throw fault
    if (error instanceof TurnLost) return { kind: 'lost', usage: error.usage }
    return { kind: 'failed', failure: 'error', detail: `the brain broke: ${String(error)}`, output: '', beforeEffect: false }
  }
}

async function interrupted(bench: Bench, lease: Lease, state: TaskState): Promise<void> {
  const detail = 'Assay ended in the middle of this attempt; it is not run again'
  const handled = await bench.tasks.handle(
    state.spec.id,
    { type: 'interrupt_attempt', attempt: state.attempts, detail },
    { actor: 'runtime', settles: lease },
  )
  await settleRefused(bench, lease, handled)
}
