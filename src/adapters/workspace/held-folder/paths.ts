import type { Manifest, SnapshotFile } from '../../../ports/snapshots.ts'

/** Paths whose entry differs between two snapshots: file, executable bit, or what was refused there and why. */
export function differing(before: Manifest, after: Manifest): Set<string> {
  const was = entriesOf(before)
  const is = entriesOf(after)
  const paths = new Set<string>()
  for (const [path, entry] of was) if (is.get(path) !== entry) paths.add(path)
  for (const path of is.keys()) if (!was.has(path)) paths.add(path)
  return paths
}

function entriesOf({ files, refused }: Manifest): Map<string, string> {
  const entries = new Map(files.map((file) => [file.path, shownAs(file)]))
  for (const { path, why } of refused) entries.set(path, `refused: ${why}`)
  return entries
}

function shownAs({ digest, executable }: SnapshotFile): string {
  return executable ? `${digest} executable` : digest
}

/** True for these paths, for the folders on the way to them and for whatever lies below one of them. */
export function touching(paths: ReadonlySet<string>): (path: string) => boolean {
  const onTheWay = new Set<string>()
  for (const path of paths) {
    for (const folder of foldersOf(path)) {
      if (onTheWay.has(folder)) break
      onTheWay.add(folder)
    }
  }
  return (path) => paths.has(path) || onTheWay.has(path) || foldersOf(path).some((folder) => paths.has(folder))
}

/** The folders that a path lies in, the innermost first. */
function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let cut = path.lastIndexOf('/'); cut !== -1; cut = path.lastIndexOf('/', cut - 1)) folders.push(path.slice(0, cut))
  return folders
}
