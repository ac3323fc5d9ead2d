import { realpathSync } from 'node:fs'
import { buildEnv } from '../adapters/process/environment.ts'
import { findProgram } from '../adapters/process/program.ts'
import type { Brain } from '../contract/agent.ts'

/** What lies here is changed by whoever runs the machine, with each update: it is known by its path alone. */
const systemFolders = ['/bin/', '/sbin/', '/usr/', '/nix/store/']

/** The name of a command's program where it has no path: the file that it means is found through PATH. */
export function bareName(brain: Brain | undefined): string | undefined {
  const [name] = brain?.kind === 'command' ? brain.argv : []
  return name === undefined || name.includes('/') ? undefined : name
}

/** The file that a bare name means to judges that this process starts; undefined where there is none. */
export function foundInPath(name: string, path = buildEnv().PATH ?? ''): string | undefined {
  const found = findProgram(name, '/', path)
  return 'file' in found ? found.file : undefined
}

/** Whether a program and what its links lead to belong to the system. */
export function isOfSystem(file: string): boolean {
  const isThere = (path: string) => systemFolders.some((folder) => path.startsWith(folder))
  return isThere(file) && isThere(realpathSync(file))
}
