import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import { makeProject, type Project } from './project.ts'

/** What an agent reads of its hook. */
export type HookAnswer = { decision?: string; reason?: string; systemMessage?: string }

/** Files of a project whose judge wants `a.txt` to say what the file `rules.sh` beside it asks for. */
export function ruledFiles(more: object = {}): Record<string, string | object> {
  return {
    'assay.yaml': {
      brains: { crit: { kind: 'command', argv: ['sh', 'judge.sh'] } },
      agents: { qa: { role: 'reviewer', brain: 'crit' } },
      review: { threshold: 60, panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0 },
      hook: { criteria: ['a.txt says good'], maxAttempts: 3 },
      ...more,
    },
    'judge.sh': 'cat >/dev/null\n. ./rules.sh\nif wanted "$ASSAY_SNAPSHOT/a.txt"; then echo "SCORE: 90"; else echo "SCORE: 30"; fi\n',
    'rules.sh': 'wanted() { grep -q good "$1"; }\n',
    '.gitignore': '.assay\ntmp/\n.config/\nnode_modules/\n',
    'a.txt': 'nothing yet\n',
  }
}

/** Such a project, committed; `more` goes into its configuration. */
export function ruledProject(files: Record<string, string | object> = {}, more: object = {}): Project {
  const project = makeProject({ ...ruledFiles(more), ...files })
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  commitAll(project)
  return project
}

export function git({ folder }: Project, ...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: folder, stdio: 'pipe' })
}

export function commitAll(project: Project): void {
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'so far')
}

export async function callHook(
  project: Project,
  told: object,
  { agent = 'claude', env = {} }: { agent?: string; env?: Record<string, string> } = {},
): Promise<HookAnswer> {
  const { code, stdout, stderr } = await project.run(['hook', '--agent', agent], { input: JSON.stringify(told), env })
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as HookAnswer
}

export const begin = (project: Project, session: string, more: object = {}): Promise<HookAnswer> =>
  callHook(project, { session_id: session, cwd: project.folder, hook_event_name: 'SessionStart', ...more })
export const stop = (project: Project, session: string, more: object = {}): Promise<HookAnswer> =>
  callHook(project, { session_id: session, cwd: project.folder, hook_event_name: 'Stop', ...more })

export async function acceptPolicy(project: Project): Promise<void> {
  const { code, stderr } = await project.asOwner(['policy', 'accept', '--reason', 'as it should be'])
  expect(code, stderr).toBe(0)
}

/** Paths of the work of each stop that was judged. */
export async function judgedPaths(project: Project): Promise<string[][]> {
  const cases = (await project.events()).filter(({ type }) => type === 'case.submitted')
  return cases.map(({ data }) => (data as { content: { paths: string[] } }).content.paths)
}

/** Why sessions went unreviewed, as it is on record. */
export async function unreviewedReasons(project: Project): Promise<string[]> {
  return (await project.events()).filter(({ type }) => type === 'session.unreviewed').map(({ data }) => (data as { reason: string }).reason)
}
