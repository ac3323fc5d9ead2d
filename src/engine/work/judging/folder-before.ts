import type { TaskState } from '../../../core/task/state.ts'
import type { JudgeQuestion } from '../../../ports/brain.ts'
import type { Bench } from '../bench.ts'
import { copyForJudge } from './copies.ts'

type Before = NonNullable<JudgeQuestion['before']> & { dispose(): Promise<void> }

/**
 * The shared folder of a task as it was before the work, for judges whose own files lie in it. Installed packages come with it, but for those that the worker
 * added, as long as none that was there is another now: a judge that cannot load what it needs gives no verdict, one that loads a worker's files would give the worker's.
 */
export function folderBefore({ parts }: Bench, { spec, current }: TaskState): Before | undefined {
  const shared = parts.workspaces.shared(spec)
  const base = shared?.before ?? current?.content?.base
  if (!shared || base === undefined) return undefined
  let copy: ReturnType<typeof copyForJudge> | undefined
  const make = async () => {
    const { changed, replaced, added } = await parts.workspaces.meddled(spec)
    return copyForJudge(parts, base, changed.length === 0 ? { packagesFor: spec, withoutPackages: [...replaced, ...added] } : {})
  }
  return {
    folder: shared.folder,
    copy: async () => {
      copy ??= make()
      return (await copy).folder
    },
    dispose: async () => {
      // A copy that could not be made was reported to whoever asked for it.
      const made = await Promise.allSettled(copy ? [copy] : [])
      for (const one of made) if (one.status === 'fulfilled') await one.value.dispose()
    },
  }
}
