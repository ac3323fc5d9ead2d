import type { Manifest, SnapshotFile } from '../../../../ports/snapshots.ts'

export interface Changes {
  /** Files that are new, or have other bytes or another executable bit. */
  put: SnapshotFile[]
  removed: string[]
}

/** How the content differs from the base. Where the content has something that is no plain file, the base stands as it is. */
export function changesOf(base: Manifest, content: Manifest): Changes {
  const before = new Map(base.files.map((file) => [file.path, file]))
  const after = new Set(content.files.map((file) => file.path))
  const refused = new Set(content.refused.map((entry) => entry.path))
  const put = content.files.filter((file) => {
    const old = before.get(file.path)
    return old === undefined || old.digest !== file.digest || old.executable !== file.executable
  })
  const removed = base.files.map((file) => file.path).filter((path) => !after.has(path) && !covered(path, refused))
  return { put, removed }
}

/** The path itself or a folder on the way to it. */
function covered(path: string, refused: ReadonlySet<string>): boolean {
  for (let cut = path.length; cut !== -1; cut = path.lastIndexOf('/', cut - 1)) {
    if (refused.has(path.slice(0, cut))) return true
  }
  return false
}

/** Characters that some file systems leave out of names. */
const invisible = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** A name that some file system takes for `.git`; git keeps no such path. */
export function isUnfit(path: string): boolean {
  return path.split(/[/\\]/).some((part) => {
    const name = part.replaceAll(invisible, '').toLowerCase().split(':')[0] ?? ''
    return /^(\.git|git~1)[. ]*$/.test(name)
  })
}

/** The changes without the paths that git would not keep. */
export function fitChanges({ put, removed }: Changes): Changes {
  return { put: put.filter((file) => !isUnfit(file.path)), removed: removed.filter((path) => !isUnfit(path)) }
}
