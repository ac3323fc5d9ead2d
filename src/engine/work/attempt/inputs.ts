import type { Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import type { TaskInput, TaskSpec } from '../../../contract/task.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { InputMaterial } from '../../../ports/workspace.ts'
import type { EndedTask } from '../../task/ended.ts'
import type { Bench } from '../bench.ts'

/** What the dependencies hand on, from their snapshots. */
export async function inputMaterial(bench: Bench, state: TaskState): Promise<InputMaterial[]> {
  return Promise.all(
    state.inputs.map(async (input) => {
      const source = await handedOnBy(bench, input)
      const content = source?.content
      return {
        task: input.task,
        title: source?.spec.title ?? input.task,
        prefix: input.prefix,
        content: content && source ? await handedOn(bench, source.spec, content) : null,
        output: content?.output ?? '',
      }
    }),
  )
}

/** As the task was given it: what it depends on may have ended otherwise since. */
async function handedOnBy({ tasks }: Bench, { task, digest }: TaskInput): Promise<Pick<EndedTask, 'spec' | 'content'> | undefined> {
  const ended = await tasks.ended(task)
  if (ended?.input.digest === digest) return ended
  const { state } = await tasks.load(task)
  return state && { spec: state.spec, content: state.contents[digest] }
}

/** What was judged is handed on: of a folder that tasks share, or of a repository, only what the task changed. */
async function handedOn({ parts }: Bench, spec: Pick<TaskSpec, 'workspace'>, { snapshot, paths }: Content): Promise<Digest> {
  if (spec.workspace.kind === 'scratch') return snapshot as Digest
  const changed = new Set(paths)
  const files = (await parts.snapshots.manifest(snapshot as Digest))?.files ?? []
  return parts.snapshots.compose(files.filter(({ path }) => changed.has(path)))
}
