import type { TaskSpec } from '../../../contract/task.ts'
import type { EngineParts } from '../../parts.ts'

type Copy = Awaited<ReturnType<EngineParts['materialise']>>

const open = new WeakMap<EngineParts, Map<string, { copy: Promise<Copy>; users: number }>>()

/**
 * A copy of the snapshot under review, for one judge. Where a sandbox runs judges they can only read it, so those that look at the same snapshot at
 * the same time look at one copy; without a sandbox each has its own, for it may write. Where a task is named, the copy has its installed packages.
 */
export async function copyForJudge(
  parts: EngineParts,
  snapshot: string,
  packages: { packagesFor?: TaskSpec; withoutPackages?: readonly string[] } = {},
): Promise<Copy> {
  if (packages.packagesFor || !(await parts.sandboxed())) return parts.materialise(snapshot, packages)
  const copies = open.get(parts) ?? new Map()
  open.set(parts, copies)
  const shared = copies.get(snapshot) ?? { copy: parts.materialise(snapshot), users: 0 }
  copies.set(snapshot, shared)
  shared.users += 1
  const leave = async () => {
    shared.users -= 1
    if (shared.users > 0) return
    copies.delete(snapshot)
    await (await shared.copy).dispose()
  }
  try {
    const { folder } = await shared.copy
    return { folder, dispose: leave }
  } catch (error) {
    copies.delete(snapshot)
    throw error
  }
}
