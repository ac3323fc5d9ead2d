import type { EventData } from '../../contract/events/manifest.ts'
import type { View } from '../../ports/journal.ts'

/** A shared folder that a task has. */
export interface FolderRow {
  folder: string
  task: string
}

export const foldersView: View<FolderRow> = {
  name: 'folders',
  keys: (event) => (event.stream.startsWith('folder/') ? [event.stream.slice('folder/'.length)] : []),
  fold: (row, event) => {
    if (event.type === 'folder.released') return undefined
    if (event.type !== 'folder.taken') return row
    const { folder, task } = event.data as EventData<'folder.taken'>
    return { folder, task }
  },
}
