import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../contract/canonical.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { PreparedMerge } from '../../ports/workspace.ts'
import { plant, type Tree, taken, tempFolder } from '../snapshot-suite/trees.ts'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { sampleTask } from '../../adapters/workspace/fixtures/task.ts'
import { openWorkspaces } from '../../adapters/workspace/workspaces.ts'

/** Git as a person uses it, apart from the code under test. */
export function git(cwd: string, ...args: string[]): string {
  const ran = spawnSync('git', args, { cwd, encoding: 'utf8', env: personalEnv })
  if (ran.status !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.status}: ${ran.stderr}${ran.stdout}`)
  return ran.stdout
}

const personalEnv = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

export function initRepository(folder: string, ...options: string[]): string {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '--quiet', '--initial-branch=main', ...options)
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.org')
  return folder
}

/** A repository with one commit of these files, and Assay's state in it. */
export function repositoryWith(tree: Tree, options: { subfolder?: string; init?: string[] } = {}) {
  const repository = initRepository(tempFolder(), ...(options.init ?? []))
  plant(repository, { '.gitignore': '.assay/\n', ...tree })
  git(repository, 'add', '-A', '-f')
  git(repository, 'commit', '--quiet', '-m', 'first')
  return openProject(repository, options.subfolder)
}

/** Assay in a folder of a repository. */
export function openProject(repository: string, subfolder = '') {
  const projectRoot = join(repository, subfolder)
  mkdirSync(projectRoot, { recursive: true })
  const folder = join(projectRoot, '.assay/work')
  const snapshots = openSnapshotStore({ folder: join(projectRoot, '.assay/objects') })
  /** As another process would open it. */
  const reopen = (program?: string) => openWorkspaces({ folder, projectRoot, snapshots, ...(program !== undefined && { git: program }) })
  const workspaces = reopen()
  const submit = async (task: TaskSpec, subject = `Work of ${task.id}`) => {
    const { path, base } = await workspaces.open(task, [])
    const { digest } = await taken(snapshots, path, (inner) => workspaces.ignored(inner, task))
    const content = { snapshot: digest, base }
    return { content, prepared: await integrationOf(task).prepare(content, { subject, trailers: { 'Assay-Task': task.id } }) }
  }
  const integrationOf = (task: TaskSpec) => {
    const integration = workspaces.integration(task)
    if (!integration) throw new Error('a worktree has an integration')
    return integration
  }
  /** Prepares what is in the workspace and publishes it. */
  const land = async (task: TaskSpec) => {
    const merge = merged((await submit(task)).prepared)
    return { merge, answer: await integrationOf(task).publish(merge) }
  }
  return { repository, projectRoot, folder, snapshots, workspaces, reopen, submit, integrationOf, land }
}

export function merged(prepared: PreparedMerge): Extract<PreparedMerge, { kind: 'merged' }> {
  if (prepared.kind !== 'merged') throw new Error(`this was to merge: ${JSON.stringify(prepared)}`)
  return prepared
}

export const worktreeTask = (id: string, more: Partial<TaskSpec> = {}): TaskSpec =>
  sampleTask({ id, mission: 'ship', title: id, workspace: { kind: 'worktree' }, ...more })

/** Files of a commit: path → mode and content, as hex. */
export function filesOf(repository: string, commit: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const line of git(repository, 'ls-tree', '-r', '-z', commit).split('\0').filter(Boolean)) {
    const [, mode = '', kind, id = '', path = ''] = /^(\d+) (\w+) ([0-9a-f]+)\t([\s\S]*)$/.exec(line) ?? []
    const bytes =
      kind === 'blob' ? spawnSync('git', ['cat-file', 'blob', id], { cwd: repository, env: personalEnv }).stdout.toString('hex') : id
    files[path] = `${mode} ${bytes}`
  }
  return files
}

/** Every entry below a folder with what it holds, but for the paths left out. */
export function fingerprint(folder: string, leftOut: (path: string) => boolean, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`
    if (leftOut(path)) continue
    const stat = lstatSync(join(folder, path))
    if (stat.isDirectory()) Object.assign(found, { [path]: 'folder' }, fingerprint(folder, leftOut, path))
    else if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(folder, path))}`
    else found[path] = `${stat.mode.toString(8)} ${stat.mtimeMs} ${sha256Hex(readFileSync(join(folder, path)))}`
  }
  return found
}

/** All that is the user's: the checkout, and the repository but for what Assay may add to it. */
export function usersOwn(repository: string): Record<string, string> {
  const ours = ['.assay', '.git/worktrees', '.git/objects', '.git/refs/heads/assay', '.git/logs/refs/heads/assay']
  return fingerprint(repository, (path) => ours.some((own) => path === own || path.startsWith(`${own}/`)))
}
