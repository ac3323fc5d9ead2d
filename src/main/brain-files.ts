import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
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
export function watched(brain: BrainPort, atStart: readonly Watched[]): BrainPort {
  return {
    conversational: brain.conversational,
    work: (order, signal) => brain.work(order, signal),
    judge: async (question, signal) => {
      const changed = atStart.filter(({ file, print }) => hasChanged(file, print)).map(({ file }) => file)
      if (changed.length === 0) return brain.judge(question, signal)
      return { kind: 'unavailable', detail: `${changed.join(', ')} changed since the run began: this judge is not asked` }
    },
    close: () => brain.close(),
  }
}

/** A brain's files as they are before any worker of this process begins. */
export interface Watched {
  file: string
  print: Fingerprint
}

export function watchedFiles(brain: Brain | undefined, folder: string): Watched[] {
  return filesOf(brain, folder).map((file) => ({ file, print: fingerprint(file) }))
}

/** Digests of what the named brains are made of, by their paths from the folder. */
export function digestsOf(
  names: readonly string[],
  watching: ReadonlyMap<string, readonly Watched[]>,
  folder: string,
): Record<string, string> {
  const files = names.flatMap((name) => watching.get(name) ?? [])
  return Object.fromEntries(files.map(({ file, print }) => [relative(folder, file), print.digest]))
}

interface Fingerprint {
  /** Which file it is and when it was last touched in any way; the time of change cannot be set back by whoever writes the file. */
  state: string
  digest: string
}

const missing: Fingerprint = { state: 'missing', digest: 'missing' }

function fingerprint(file: string): Fingerprint {
  const state = stateOf(file)
  return state === undefined ? missing : { state, digest: digestOfFile(file) }
}

/** Content counts, not time; it is read again only where the file was touched. */
function hasChanged(file: string, { state, digest }: Fingerprint): boolean {
  const now = stateOf(file) ?? missing.state
  if (now === state) return false
  return now === missing.state || digestOfFile(file) !== digest
}

function stateOf(file: string): string | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat && [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ')
}

/** Piece by piece: a program may be large, and what is held in memory makes every process slower to start. */
function digestOfFile(path: string): string {
  const hash = createHash('sha256')
  const piece = Buffer.alloc(256 * 1024)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) hash.update(piece.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
