import type { CommitNote } from '../../../../ports/workspace.ts'
import type { Draft } from '../git/draft.ts'
import { commitMessage } from './message.ts'

/** A commit of the tree on top of `parent`; `parent` itself where that is the same work under the same words. */
export async function commitOn(draft: Draft, parent: string, tree: string, note: CommitNote, isBase: boolean): Promise<string> {
  const message = commitMessage(note)
  const same = (await treeOf(draft, parent)) === tree
  if (same && (isBase || (await draft.text(['log', '-1', '--format=%B', parent])).trim() === message.trim())) return parent
  return draft.line(['commit-tree', tree, '-p', parent, '-F', '-'], { stdin: message })
}

/** The same call gives the same commit: its date is the later one of its parents'. */
export async function mergeCommit(draft: Draft, onto: string, task: string, tree: string, note: CommitNote): Promise<string> {
  const dates = await Promise.all([onto, task].map(async (commit) => Number(await draft.line(['log', '-1', '--format=%ct', commit]))))
  const date = `${Math.max(...dates)} +0000`
  return draft.line(['commit-tree', tree, '-p', onto, '-p', task, '-F', '-'], {
    stdin: commitMessage(note, 'Merge: '),
    env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  })
}

export function treeOf(draft: Draft, commit: string): Promise<string> {
  return draft.line(['rev-parse', '--verify', `${commit}^{tree}`])
}
