import { comerNamed } from '../../../engine/outside/who.ts'
import type { App, ExitCode, McpRequest } from '../app.ts'
import type { Output } from '../output.ts'
import { type ConfigFlags, findProject } from '../project.ts'
import { stopOnSignals } from '../signals.ts'
import { isBroken, refuse } from './run.ts'

export interface McpFlags extends ConfigFlags {
  role: McpRequest['role']
  agent?: string
}

/** `assay mcp --role x`: serves one agent over standard input and output. Nothing but the protocol is written there. */
export async function mcpCommand(app: App, output: Output, flags: McpFlags): Promise<ExitCode> {
  const { role } = flags
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const { folder, project } = found.value
  const comer = role === 'owner' ? { ok: true as const, value: 'owner' } : comerNamed(project.rules.policy, role, flags.agent)
  if (!comer.ok) {
    output.note(`assay: ${comer.error}`)
    return 2
  }
  const problems = await app.problems(found.value)
  if (problems.length > 0) return refuse(output, problems)
  const signals = stopOnSignals(output, null)
  const log = (line: string) => output.note(`assay: ${line}`)
  try {
    await app.mcp(
      { role, agent: comer.value, folder, version: app.version, log, stop: signals.stop },
      async () => {
        const engine = await app.open({ folder, project, create: true })
        if (!engine) throw new Error('.assay/ could not be made')
        if (await isBroken(engine, output)) throw new Error('the journal does not verify: assay audit verify says where')
        return engine
      },
      () => app.authority(output.terminal),
    )
    return 0
  } finally {
    signals.dispose()
  }
}
