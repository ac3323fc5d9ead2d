import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { AgentName } from '../../src/testing/agents/stand-in.ts'

/** What is installed of each agent, exactly, and where its program lies in it. */
export const packages: Record<AgentName, { name: string; version: string; program: string }> = {
  claude: { name: `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`, version: '0.3.325', program: 'claude' },
  codex: { name: '@openai/codex', version: '0.166.0', program: 'bin/codex.js' },
  gemini: { name: '@google/gemini-cli', version: '0.61.0', program: 'bundle/gemini.js' },
  opencode: { name: 'opencode-ai', version: '1.18.33', program: 'bin/opencode.exe' },
}

const run = promisify(execFile)

export type Installed = { ok: true; version: string } | { ok: false; why: string }

/** Installs one agent below the folder unless it is there already, and puts its program in the folder's `bin`. */
export async function install(agent: AgentName, folder: string): Promise<Installed> {
  const { name, version, program } = packages[agent]
  const target = join(folder, 'node_modules', name, program)
  const link = join(folder, 'bin', agent)
  try {
    if (!existsSync(target)) {
      // Saved in the folder's own package.json: what is not, the next agent's installation takes away.
      const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--save-exact', '--loglevel=error']
      await run('npm', ['install', ...flags, `${name}@${version}`], { timeout: 600_000 })
    }
    await mkdir(join(folder, 'bin'), { recursive: true })
    if (!existsSync(link)) await symlink(target, link)
    const { stdout } = await run(link, ['--version'], { timeout: 60_000 })
    return { ok: true, version: stdout.match(/\d+\.\d+\.\d+/)?.[0] ?? stdout.trim() }
  } catch (error) {
    return { ok: false, why: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' }
  }
}
