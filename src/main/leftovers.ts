import { listPids, readProcess, signalProcess, startVariable } from '../adapters/process/census/identity.ts'
import { ownRuns, runVariable } from '../adapters/process/census/members.ts'

/** When this process exits without waiting for its workers (a second Ctrl-C), they end with it. Where a sandbox runs them, they do anyway. */
export function endWorkersOnExit(): void {
  process.off('exit', killOwn)
  process.once('exit', killOwn)
}

/** Only what can be done without waiting. The id of a run begins with the process that answers for it. */
function killOwn(): void {
  const own = ownRuns()
  if (own === undefined) return
  for (const pid of listPids()) {
    const worker = readProcess(pid)
    const runs = worker && startVariable(pid, runVariable)
    if (worker && runs?.split('/').some((id) => id.startsWith(own))) signalProcess(worker, 'SIGKILL')
  }
}
