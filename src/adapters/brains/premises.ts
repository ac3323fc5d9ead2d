import { join, resolve } from 'node:path'
import type { SandboxRequest } from '../process/sandbox.ts'

/** Where workers and judges run, and what there is out of their reach. */
export interface Premises {
  /** Absolute folder of the configuration; its `.assay/` is hidden where a sandbox is available. */
  configDir: string
  /** Files and folders that nobody sees, besides `.assay/`. */
  hidden?: readonly string[]
  /** Files that nobody may change: the configuration, and the programs of judges. */
  readOnly?: readonly string[]
  /** Where private folders of single runs are made; the system's folder for temporary files unless told. */
  privateRoot?: string
  /** The same for agents that judge: outside of the project, for some look for settings in all folders above. */
  judgeRoot?: string
  /** How long a process may take to end after SIGTERM (5 s). */
  killGraceMs?: number
}

export function hiddenOn({ configDir, hidden = [] }: Premises): string[] {
  return [join(configDir, '.assay'), ...hidden]
}

/** The project's own folder cannot be written but for the workspace in it; the named files not even there. */
function untouchable({ configDir, readOnly = [] }: Premises, writable: readonly string[]): string[] {
  return writable.some((path) => resolve(path) === resolve(configDir)) ? [...readOnly] : [configDir, ...readOnly]
}

/** What a process may do with files: write what it is given and temporary files, read the rest but for what is hidden. */
export function sandboxOn(premises: Premises, folder: string, files: { writable: string[]; readOnly?: string[] }): SandboxRequest {
  return {
    writable: [...files.writable, folder],
    // Version control of what is worked on is not the work: hooks and settings in it would be run by others.
    readOnly: [...(files.readOnly ?? []), ...files.writable.map((path) => join(path, '.git')), ...untouchable(premises, files.writable)],
    hidden: hiddenOn(premises),
  }
}
