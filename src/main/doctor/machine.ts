import { buildEnv } from '../../adapters/process/environment.ts'
import { findChrome } from '../../adapters/checks/browser/find-chrome.ts'
import type { ProcessEnding } from '../../adapters/process/process.ts'
import { runProcess } from '../../adapters/process/run.ts'
import { sandboxState } from '../../adapters/process/sandbox.ts'
import { expandChecks } from '../../contract/check.ts'
import type { Config } from '../../contract/config/config.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'

/** Asks a program something that takes it no time. */
export function askProgram(argv: string[], env: NodeJS.ProcessEnv, cwd: string): Promise<ProcessEnding> {
  return runProcess({ argv, cwd, env: buildEnv({ from: env }), timeoutMs: 30_000, maxOutputBytes: 20_000, killGraceMs: 1_000 })
}

export async function* machineFindings({ cwd, env, project }: DiagnoseRequest): AsyncIterable<Finding> {
  const config = project.ok ? project.value.project.config : undefined
  // The launcher lets no older one through: what runs here is recent enough.
  yield { id: 'node', state: 'ok', detail: `Node ${process.versions.node}` }
  yield { id: 'sqlite', state: 'ok', detail: `SQLite ${process.versions.sqlite ?? 'unknown'}` }
  yield await gitFinding(env, cwd)
  yield chromeFinding(env, config)
  yield await sandboxFinding()
}

async function gitFinding(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding> {
  const ran = await askProgram(['git', '--version'], env, cwd)
  if (ran.kind === 'exited' && ran.code === 0) return { id: 'git', state: 'ok', detail: ran.stdout.trim() }
  const detail = 'not found; worktrees and `assay review --diff` need it'
  return { id: 'git', state: 'none', detail, fix: 'install git (Debian and Ubuntu: apt install git)' }
}

function chromeFinding(env: NodeJS.ProcessEnv, config: Config | undefined): Finding {
  const found = findChrome({ env, ...(config?.chrome !== undefined && { chrome: config.chrome }) })
  if ('program' in found) return { id: 'chromium', state: 'ok', detail: found.program }
  const needed = config?.chrome !== undefined || expandChecks(config?.checks ?? []).some(({ kind }) => kind === 'browser')
  const detail = needed ? 'not found, and the configuration needs it' : 'not found; only browser checks need it'
  return { id: 'chromium', state: needed ? 'bad' : 'none', detail, fix: found.why }
}

async function sandboxFinding(): Promise<Finding> {
  const sandbox = await sandboxState()
  if (sandbox.usable) {
    const network = sandbox.canCutNetwork ? '' : ', but the network cannot be taken away here'
    return { id: 'sandbox', state: 'ok', detail: `bwrap is in force (${sandbox.program})${network}` }
  }
  const detail = `NOT in force: ${sandbox.reason}. Workers and checks run with your rights, and every attempt is recorded as unsandboxed`
  return { id: 'sandbox', state: 'none', detail, fix: 'Debian and Ubuntu: apt install bubblewrap; user namespaces must be allowed' }
}
