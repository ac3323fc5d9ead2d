import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { agentFindings } from './agents.ts'
import { hookFindings } from './hooks.ts'
import { journalFindings } from './journal.ts'
import { machineFindings } from './machine.ts'
import { pingFindings } from './ping.ts'
import { configurationFindings, keyFindings, tokenFinding } from './project.ts'

/** Everything that a run leans on, cheap and basic things first. Each finding comes when it is known. */
export async function* diagnose(request: DiagnoseRequest): AsyncIterable<Finding> {
  const { project, env } = request
  yield* machineFindings(request)
  yield* agentFindings(request)
  yield* configurationFindings(project)
  yield* keyFindings(request)
  yield* pingFindings(request)
  yield tokenFinding(env)
  yield* journalFindings(request)
  yield* hookFindings(request)
}
