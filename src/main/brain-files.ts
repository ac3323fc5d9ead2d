import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256Hex } from '../contract/canonical.ts'
import type { Brain } from '../contract/agent.ts'
import type { Config } from '../contract/config/config.ts'
import type { BrainPort } from '../ports/brain.ts'

/** Files that a brain is made of: the program and arguments of a command that are files of the project, the script of a scripted one. */
export function filesOf(brain: Brain | undefined, folder: string): string[] {
  if (brain?.kind === 'scripted') return [resolve(folder, brain.file)]
  if (brain?.kind !== 'command') return []
  return brain.argv.map((word) => resolve(folder, word)).filter((path) => existsSync(path) && statSync(path).isFile())
}

/** What no worker may change: the configuration and every brain's files. */
export function protectedFiles(folder: string, config: Config): string[] {
  const brains = Object.values(config.brains).flatMap((brain) => filesOf(brain, folder))
  return [...new Set([join(folder, 'assay.yaml'), ...brains])]
}

/**
 * A brain whose files are watched. Where no sandbox keeps a worker from rewriting its judge, a judge whose files have changed since
 * the run began is not asked: nothing that it says would be independent.
 */
export function watched(brain: BrainPort, files: readonly string[]): BrainPort {
  const atStart = fingerprint(files)
  return {
    conversational: brain.conversational,
    work: (order, signal) => brain.work(order, signal),
    judge: async (question, signal) => {
      const changed = files.filter((file, index) => fingerprint([file])[0] !== atStart[index])
      if (changed.length === 0) return brain.judge(question, signal)
      return { kind: 'unavailable', detail: `${changed.join(', ')} changed since the run began: this judge is not asked` }
    },
    close: () => brain.close(),
  }
}

function fingerprint(files: readonly string[]): string[] {
  return files.map((file) => (existsSync(file) ? sha256Hex(readFileSync(file)) : 'missing'))
}
