import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { assayIn, git, type Rehearsal } from '../../examples/failing-test/rehearse.ts'
import type { AgentName } from '../../src/testing/agents/stand-in.ts'
import { say } from '../../src/testing/model-server/answers.ts'
import { type Play, puppet, shell } from '../../src/testing/model-server/puppet.ts'
import type { ModelServer } from '../../src/testing/model-server/server.ts'
import { withAssay } from './home.ts'

const run = promisify(execFile)

/** How an agent is asked without a person at its side, hooks and all. opencode has no hook that holds it. */
export const headless: Partial<Record<AgentName, (prompt: string) => string[]>> = {
  claude: (prompt) => ['-p', prompt, '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,Edit,Write'],
  codex: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', '-s', 'danger-full-access', prompt],
  gemini: (prompt) => ['-p', prompt, '--approval-mode', 'yolo', '--skip-trust'],
}

const held = 'Assay: not done yet'

/** Says "done" too early, and does the rest only when it is held. */
const tooEarly: Play = {
  worker: (cue) => {
    if (cue.seen === undefined && !cue.told.includes(held)) return shell(cue, `echo 'const total = 1 + 1' > sum.js`)
    return (cue.seen ?? cue.told).includes(held) ? shell(cue, `echo 'console.log(1 + 1)' > sum.js`) : say('Done.')
  },
}

const config = {
  brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
  agents: { qa: { role: 'reviewer', brain: 'canned' } },
  review: { panel: { size: 1, quorum: 1 } },
  hook: { criteria: ['the total is printed'] },
}
const judge = {
  judges: {
    '*': [
      { accept: false, scores: 2, category: 'acceptance_gap', concern: 'Nothing is printed.', next_step: 'Print the total.' },
      { accept: true, scores: 4 },
    ],
  },
}

/** In a folder that `assay init` set up, the agent wants to end, is held with feedback, mends its work and is let go. Says what was otherwise. */
export async function heldByHook(
  agent: AgentName,
  stage: string,
  env: Record<string, string>,
  server: ModelServer,
): Promise<string | undefined> {
  const ask = headless[agent]
  if (!ask) return `${agent} has no hook that could hold it`
  server.play(puppet(tooEarly))
  const folder = join(stage, 'project')
  await mkdir(folder, { recursive: true })
  const rehearsal: Rehearsal = { folder, env: await withAssay(stage, env) }
  await git(rehearsal, 'init', '-q', '-b', 'main')
  const made = await assayIn(rehearsal, ['init', '--yes', '--hook', agent])
  if (made.code !== 0) return `the folder was not set up: ${made.stderr}`
  // A judge whose words are known, in the place of the one that init found.
  await writeFile(join(folder, 'assay.yaml'), stringify(config))
  await writeFile(join(folder, 'brain.yaml'), stringify(judge))
  await git(rehearsal, 'add', '.')
  await git(rehearsal, 'commit', '-qm', 'begin')
  const options = { cwd: folder, env: rehearsal.env, timeout: 480_000, maxBuffer: 64 * 1024 * 1024 }
  const asked = run(agent, ask('Write sum.js, which prints the total of one and one.'), options)
  asked.child.stdin?.end()
  const ended = await asked.then(
    () => undefined,
    (error: Error & { stderr?: string }) => `${agent} failed: ${(error.stderr ?? error.message).slice(-400)}`,
  )
  const { stdout } = await assayIn(rehearsal, ['task', 'list', '--json'])
  const [row] = stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { flag?: string; attempt: number; status: string }]))
  if (row?.flag === 'clean' && row.attempt === 2) return ended
  return `${row ? `the task is ${row.flag ?? row.status} after ${row.attempt} attempts` : 'nothing was reviewed'}; ${ended ?? 'the agent ended well'}`
}
