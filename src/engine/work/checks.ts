import { type CheckReport, checkId } from '../../contract/check.ts'
import type { TaskState } from '../../core/task/state.ts'
import { suspicions } from '../../core/verdict/suspicion.ts'
import { type Bench, type Runner, settleRefused } from './bench.ts'
import { workFiles } from './material.ts'

/** Checks of one submission that run at once. */
const parallelChecks = 4
/** Changed files that are looked through for text that addresses the reviewer. */
const maxSuspectFiles = 200

/** Runs the checks of a submission against its snapshot and reports them. Safe to repeat. */
export const runChecks: Runner = async (bench, lease, signal) => {
  const { journal, random } = bench.parts
  const { task, attempt, submission } = lease.payload as { task: string; attempt: number; submission: number }
  const { state } = await bench.tasks.load(task)
  if (state?.status !== 'checking' || state.attempts !== attempt || state.current?.submission !== submission)
    return void (await journal.complete(lease))
  const reports = await checkAll(bench, state, signal)
  // A stop ends checks in the middle; what they said then is nothing about the work.
  if (signal.aborted) return void (await journal.release(lease, 0))
  const handled = await bench.tasks.handle(
    task,
    { type: 'report_checks', attempt, submission, reports, nonce: random.nonce(), suspicions: await suspect(bench, state) },
    { actor: 'runtime', settles: lease },
  )
  await settleRefused(bench, lease, handled)
}

/** A command gets a copy of its own: what it does to the files must not reach the next check. The others share one. */
async function checkAll(bench: Bench, state: TaskState, signal: AbortSignal): Promise<CheckReport[]> {
  const { content } = state.current ?? {}
  const { checks } = state.spec
  if (!content || checks.length === 0) return []
  const shared = await bench.parts.materialise(content.snapshot)
  try {
    const reports: CheckReport[] = []
    const queue = [...checks.entries()]
    const lane = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [index, spec] = next
        const own = spec.kind === 'command' ? await bench.parts.materialise(content.snapshot) : undefined
        try {
          reports[index] = await bench.parts.checks.run(
            checkId(spec, index),
            spec,
            { folder: (own ?? shared).folder, output: content.output ?? '' },
            signal,
          )
        } finally {
          await own?.dispose()
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(parallelChecks, queue.length) }, lane))
    return reports
  } finally {
    await shared.dispose()
  }
}

async function suspect(bench: Bench, state: TaskState): Promise<string[]> {
  const { content } = state.current ?? {}
  if (!content) return []
  const files = await workFiles(bench.parts.snapshots, content.snapshot, content.paths.slice(0, maxSuspectFiles))
  return suspicions([
    { where: 'the case', text: JSON.stringify(state.current?.case) },
    { where: 'the output', text: content.output ?? '' },
    ...files.map(({ path, text }) => ({ where: path, text })),
    { where: 'file names', text: content.paths.join('\n') },
  ])
}
