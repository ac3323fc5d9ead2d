import { realpathSync } from 'node:fs'
import { WorkspaceFault } from '../../fault.ts'
import type { Git } from './git.ts'

/** The repository that the project lies in, as it is found from the project's folder and never from a worktree. */
export interface Repository {
  git: Git
  projectRoot: string
  /** Where objects and refs live. */
  commonDir: string
  /** The project's folder in the repository: empty, or `packages/app`. */
  prefix: string
  objectFormat: string
  /** Who commits. */
  identity: { name: string; email: string }
}

export async function findRepository(git: Git, projectRoot: string): Promise<Repository> {
  const ask = { cwd: projectRoot, personal: true }
  const kind = await git.run({ ...ask, args: ['rev-parse', '--is-bare-repository', '--is-inside-work-tree', '--show-object-format'] })
  if (kind.code !== 0) throw new WorkspaceFault('no_repository', notFound(projectRoot, kind.stderr))
  const [bare, inside, objectFormat = 'sha1'] = kind.stdout.split('\n')
  if (bare === 'true') throw new WorkspaceFault('no_repository', `${projectRoot} is a bare git repository: there are no files to work on`)
  if (inside !== 'true') throw new WorkspaceFault('no_repository', `${projectRoot} is not inside the work tree of a git repository`)
  const commonDir = await git.line({ ...ask, args: ['rev-parse', '--path-format=absolute', '--git-common-dir'] })
  const prefix = await git.line({ ...ask, args: ['rev-parse', '--show-prefix'] })
  return {
    git,
    projectRoot,
    commonDir: realpathSync(commonDir),
    prefix: prefix.replace(/\/$/, ''),
    objectFormat,
    identity: await identityOf(git, projectRoot),
  }
}

function notFound(projectRoot: string, said: string): string {
  if (/not a git repository/.test(said))
    return `${projectRoot} is not in a git repository; a worktree needs one (git init, and a first commit)`
  return `git does not work in ${projectRoot}: ${said.trim().slice(-2000)}`
}

/** The commit that the user has checked out. */
export async function headCommit(repository: Repository): Promise<string> {
  const { git, projectRoot } = repository
  const head = await git.run({ cwd: projectRoot, personal: true, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'] })
  if (head.code === 0) return head.stdout.trim()
  throw new WorkspaceFault('no_repository', `the repository of ${projectRoot} has no commit yet; a worktree starts from one`)
}

/** The user's name where git knows it whole, else Assay's. */
async function identityOf(git: Git, projectRoot: string): Promise<Repository['identity']> {
  const setting = async (name: string) => {
    const found = await git.run({ cwd: projectRoot, personal: true, args: ['config', '--get', name] })
    return found.code === 0 ? found.stdout.trim() : ''
  }
  const [name, email] = [await setting('user.name'), await setting('user.email')]
  return name !== '' && email !== '' ? { name, email } : { name: 'Assay', email: 'assay@localhost' }
}
