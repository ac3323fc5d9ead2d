import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

const mostEntries = 200_000

/** Whether the folder has a plain file, by its path inside, that is meant. Links are not followed. */
export async function someFile(folder: string, isMeant: (path: string) => boolean, signal: AbortSignal): Promise<boolean> {
  const open = ['']
  let entries = 0
  for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) {
    for await (const entry of await opendir(join(folder, prefix))) {
      if (signal.aborted || ++entries > mostEntries) return false
      const path = prefix + entry.name
      if (entry.isDirectory()) open.push(`${path}/`)
      else if (entry.isFile() && isMeant(path)) return true
    }
  }
  return false
}
