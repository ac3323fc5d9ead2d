import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Node of the machine's own that is too old to run Assay. */
export function findOldNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'))
  const found = folders.map((folder) => join(folder, 'node')).find((path) => existsSync(path))
  const major = found && Number(execFileSync(found, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }))
  return major && major < 22 ? found : undefined
}
