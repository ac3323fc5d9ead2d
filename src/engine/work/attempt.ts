import { digestOf } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { Lease } from '../../contract/work.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { BrainPort, WorkEnding, WorkOrder } from '../../ports/brain.ts'
import type { InputMaterial, OpenWorkspace } from '../../ports/workspace.ts'
import { changed } from './changed.ts'
import { folderTaken, holdsFolder } from './folders.ts'
import { workerPrompt } from '../prompts/worker.ts'
import { diskFault, StoreFault } from '../store-fault.ts'
import { type Bench, type Runner, settleRefused } from './bench.ts'

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
  if (state?.status === 'running' && state.current?.work === lease.key) return interrupted(bench, lease, state)
  if (state?.status !== 'todo') return void (await journal.complete(lease))
  if (signal.aborted) return void (await journal.release(lease, 0))

  const agent = rules.policy.agents[state.spec.assignee]
  if (!agent) return void (await journal.complete(lease))
  const brain = await bench.brain(agent.brain)
  const inputs = await inputMaterial(bench, state)
  const folder = await holdsFolder(bench.parts, state.spec)
  if (folder.kind === 'busy') return void (await journal.release(lease, folderRetryMs(lease)))
  // A shared folder is looked at only once it is taken: until then another task may be writing in it.
  const openWorkspace = () => bench.parts.workspaces.open(state.spec, inputs)
  const prepared = folder.kind === 'free' ? undefined : await openWorkspace()
  const started = await bench.tasks.handle(
    task,
    {
      type: 'start_attempt',
      worker: state.spec.assignee,
      conversational: brain.conversational,
      participants: [],
      sandboxed: bench.parts.sandboxed,
      work: lease.key,
    },
    { actor: state.spec.assignee, alongside: () => folderTaken(folder, state.spec) },
  )
  if (!started.ok)
    return started.error.code === 'conflict'
      ? void (await journal.release(lease, folderRetryMs(lease)))
      : settleRefused(bench, lease, started)

  const workspace = prepared ?? (await openWorkspace())
  const order = {
    task: state.spec,
    agent: state.spec.assignee,
    instructions: agent.instructions,
    attempt: started.state.attempts,
    prompt: workerPrompt(started.state, inputs, rules.policy.review.ledgerLimit),
    workspace: workspace.path,
  }
  let ending = await turn(brain, order, signal)
  if (ending.kind === 'failed' && ending.beforeEffect && !signal.aborted) ending = await turn(brain, order, signal)
  await report(bench, lease, started.state, workspace, ending)
}

/** A brain that throws has a bug; what it did before is not known, so the attempt fails and is not repeated. */
async function turn(brain: BrainPort, order: WorkOrder, signal: AbortSignal): Promise<WorkEnding> {
  try {
    return await brain.work(order, signal)
  } catch (error) {
    const fault = diskFault(error)
    if (fault) throw fault
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

async function report(bench: Bench, lease: Lease, state: TaskState, workspace: OpenWorkspace, ending: WorkEnding): Promise<void> {
  const { id, assignee } = state.spec
  const attempt = state.attempts
  const options = { actor: assignee, settles: lease }
  if (ending.kind === 'stopped') {
    const handled = await bench.tasks.handle(id, { type: 'stop_attempt', attempt, detail: ending.detail }, { ...options, actor: 'runtime' })
    return settleRefused(bench, lease, handled)
  }
  if (ending.kind === 'failed') {
    const { failure, detail, output, usage } = ending
    const handled = await bench.tasks.handle(
      id,
      { type: 'fail_attempt', attempt, failure, detail, output, ...(usage && { usage }) },
      options,
    )
    return settleRefused(bench, lease, handled)
  }
  const taken = await takeContent(bench, state.spec, workspace, ending.output)
  if (!taken.ok) {
    const handled = await bench.tasks.handle(
      id,
      { type: 'fail_attempt', attempt, failure: 'output', detail: taken.detail, output: ending.output },
      options,
    )
    return settleRefused(bench, lease, handled)
  }
  const { raw, usage } = ending
  const handled = await bench.tasks.handle(
    id,
    { type: 'submit_case', attempt, raw, content: taken.content, ...(usage && { usage }) },
    options,
  )
  await settleRefused(bench, lease, handled)
}

/** Snapshots the workspace: from here on nobody reads it again. Where no file changed, the output is the work. */
async function takeContent(
  bench: Bench,
  spec: TaskSpec,
  workspace: OpenWorkspace,
  output: string,
): Promise<{ ok: true; content: Content } | { ok: false; detail: string }> {
  const { snapshots, workspaces } = bench.parts
  const taken = await snapshots.take(workspace.path, (path) => workspaces.ignored(path, spec))
  if (!taken.ok) {
    if (taken.problem.code === 'disk_full' || taken.problem.code === 'io') throw new StoreFault('the work could not be kept', taken.problem)
    return { ok: false, detail: taken.problem.message }
  }
  const { manifest } = taken
  const paths = changed((await snapshots.manifest(workspace.base)) ?? { files: [], refused: [] }, manifest)
  const empty = paths.length === 0 && output.trim() === ''
  const digest = paths.length > 0 ? manifest.digest : digestOf({ base: workspace.base, output })
  return { ok: true, content: { digest, snapshot: manifest.digest, empty, paths, output } }
}

/** What the dependencies hand on, from their snapshots. */
async function inputMaterial(bench: Bench, state: TaskState): Promise<InputMaterial[]> {
  return Promise.all(
    state.inputs.map(async (input) => {
      const { state: source } = await bench.tasks.load(input.task)
      const content = source?.contents[input.digest]
      return {
        task: input.task,
        title: source?.spec.title ?? input.task,
        prefix: input.prefix,
        content: (content?.snapshot ?? null) as InputMaterial['content'],
        output: content?.output ?? '',
      }
    }),
  )
}
