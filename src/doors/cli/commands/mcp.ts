import { comerNamed } from '../../../engine/outside/who.ts'
import type { App, ExitCode, McpRequest } from '../app.ts'
import type { Output } from '../output.ts'
import { type ConfigFlags, findProject } from '../project.ts'
import { stopOnSignals } from '../signals.ts'
import { isBroken, refuse } from './run.ts'

export interface McpFlags extends ConfigFlags {
  role: McpRequest['role']
  agent?: string
  printToken?: boolean
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
  if (flags.printToken) return printToken(app, output, role, comer.value)
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

/** A worker that could start a reviewer's server would grade its own work: verdicts need a token that only the owner can have made. */
async function printToken(app: App, output: Output, role: McpRequest['role'], agent: string): Promise<ExitCode> {
  const authority = await app.authority(output.terminal)
  const wrong =
    role !== 'reviewer' ? 'only a reviewer has a token of its own: --role reviewer' : authority.ok ? undefined : authority.message
  if (wrong !== undefined) {
    output.note(`assay: ${wrong}`)
    return 2
  }
  const token = await app.reviewerToken(agent, output.terminal)
  if (output.json) output.jsonLine({ kind: 'token', agent, variable: 'ASSAY_REVIEWER_TOKEN', token })
  else output.data(token)
  output.note(`Set ASSAY_REVIEWER_TOKEN to it where ${agent}'s server is started, and nowhere else.`)
  return 0
}
