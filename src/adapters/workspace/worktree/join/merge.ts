import type { Draft } from '../git/draft.ts'
import { failure } from '../git/git.ts'

const maxDetail = 4000

interface MergedTree {
  tree: string
  /** Paths that both sides changed in ways that do not go together; in the tree they have conflict markers. */
  conflicts: string[]
  /** What git says about them. */
  detail: string
}

/** Merges two commits without touching any file or branch. */
export async function mergeTrees(draft: Draft, mission: string, task: string): Promise<MergedTree> {
  draft.name('the-mission-so-far', mission)
  draft.name('this-task', task)
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', 'the-mission-so-far', 'this-task']
  const answer = await draft.run(args)
  if (answer.code > 1) throw failure({ args }, answer.stderr || answer.stdout)
  const [tree = '', ...rest] = answer.stdout.split('\0')
  if (answer.code === 0) return { tree, conflicts: [], detail: '' }
  const end = rest.indexOf('')
  const conflicts = [...new Set(rest.slice(0, end))]
  return { tree, conflicts, detail: messagesOf(rest.slice(end + 1)).slice(0, maxDetail) }
}

/** Each message: number of paths, the paths, its kind, its text. */
function messagesOf(fields: string[]): string {
  const messages: string[] = []
  for (let at = 0; at < fields.length - 1; ) {
    const text = at + Number(fields[at]) + 2
    const message = fields[text] ?? ''
    if (message.startsWith('CONFLICT')) messages.push(message.trim())
    if (!Number.isSafeInteger(text)) break
    at = text + 1
  }
  return messages.join('\n')
}
