import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitAnswer } from './git.ts'
import type { Repository } from './repository.ts'

/** Longer than anything done with a draft takes. */
const staleMs = 3_600_000

/** Bytes go in and out as they are: no line ends, no filters, no encodings, no merge drivers, whatever a `.gitattributes` says. */
const attributes = '* -text !eol -ident -filter !working-tree-encoding !merge !conflict-marker-size\n'

interface DraftCall {
  stdin?: string
  env?: Record<string, string>
  /** Folder of the files; without it git has none. */
  workTree?: string
  /** Index file; a private one unless told. */
  index?: string
}

/**
 * A git directory of our own for one operation, with the repository's objects and nothing else of it: no configuration, hooks,
 * attributes or index. It is gone afterwards.
 */
export interface Draft {
  /** Private folder to put files in. */
  folder: string
  run(args: readonly string[], call?: DraftCall): Promise<GitAnswer>
  text(args: readonly string[], call?: DraftCall): Promise<string>
  line(args: readonly string[], call?: DraftCall): Promise<string>
  /** A name for a commit, as it is to stand in conflict markers. */
  name(name: string, commit: string): void
}

/** `home` must be out of workers' reach. */
export async function withDraft<T>(repository: Repository, home: string, use: (draft: Draft) => Promise<T>): Promise<T> {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  await removeStale(home)
  const folder = mkdtempSync(join(home, 'draft-'))
  try {
    return await use(openDraft(repository, folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function openDraft(repository: Repository, folder: string): Draft {
  const gitDir = join(folder, 'git')
  mkdirSync(join(gitDir, 'refs/heads'), { recursive: true })
  mkdirSync(join(gitDir, 'info'))
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/nothing\n')
  writeFileSync(join(gitDir, 'config'), configText(repository.objectFormat))
  writeFileSync(join(gitDir, 'info/attributes'), attributes)
  const shallow = join(repository.commonDir, 'shallow')
  const { name, email } = repository.identity
  const env = {
    GIT_OBJECT_DIRECTORY: join(repository.commonDir, 'objects'),
    ...(existsSync(shallow) && { GIT_SHALLOW_FILE: shallow }),
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
  }
  const callOf = (args: readonly string[], call: DraftCall) => ({
    args: [`--git-dir=${gitDir}`, ...(call.workTree === undefined ? [] : [`--work-tree=${call.workTree}`]), ...args],
    cwd: call.workTree ?? folder,
    env: { ...env, GIT_INDEX_FILE: call.index ?? join(folder, 'index'), ...call.env },
    ...(call.stdin !== undefined && { stdin: call.stdin }),
  })
  return {
    folder,
    run: (args, call = {}) => repository.git.run(callOf(args, call)),
    text: (args, call = {}) => repository.git.text(callOf(args, call)),
    line: (args, call = {}) => repository.git.line(callOf(args, call)),
    name: (label, commit) => writeFileSync(join(gitDir, 'refs/heads', label), `${commit}\n`),
  }
}

function configText(objectFormat: string): string {
  const extension = objectFormat === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${objectFormat}\n`
  return `[core]\n\trepositoryformatversion = ${extension === '' ? 0 : 1}\n\tbare = true\n${extension}`
}

/** What a process left behind when it was killed. */
async function removeStale(home: string): Promise<void> {
  for (const name of readdirSync(home)) {
    const stat = lstatSync(join(home, name), { throwIfNoEntry: false })
    if (stat && Date.now() - stat.mtimeMs > staleMs) await rm(join(home, name), { recursive: true, force: true })
  }
}
