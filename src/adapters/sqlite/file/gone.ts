import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { JournalFault } from '../../../ports/journal.ts'
import { headPath } from './head.ts'

/** Refuses a home whose journal was deleted or emptied: what lies around it tells that there was one, so no new one is begun there unasked. */
export function refuseGone(home: string, path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if ((size ?? 0) > 0 || existsSync(`${path}-wal`) || (!existsSync(headPath(path)) && !hasObjects(join(home, 'objects')))) return
  const what = size === undefined ? 'is gone' : 'is empty'
  throw new JournalFault(
    'corrupt',
    `The journal ${path} ${what}, but what it was about is still there. Put ${home} away with \`assay reset\` and restore the last backup`,
  )
}

function hasObjects(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => !entry.isDirectory() || readdirSync(join(folder, entry.name)).length > 0,
  )
}
