import type { Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { InputMaterial } from '../../../ports/workspace.ts'
import type { Bench } from '../bench.ts'

/** What the dependencies hand on, from their snapshots. */
export async function inputMaterial(bench: Bench, state: TaskState): Promise<InputMaterial[]> {
  return Promise.all(
    state.inputs.map(async (input) => {
      const { state: source } = await bench.tasks.load(input.task)
      const content = source?.contents[input.digest]
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

/** What was judged is handed on: of a folder that tasks share, or of a repository, only what the task changed. */
async function handedOn({ parts }: Bench, spec: TaskSpec, { snapshot, paths }: Content): Promise<Digest> {
  if (spec.workspace.kind === 'scratch') return snapshot as Digest
  const changed = new Set(paths)
  const files = (await parts.snapshots.manifest(snapshot as Digest))?.files ?? []
  return parts.snapshots.compose(files.filter(({ path }) => changed.has(path)))
}
