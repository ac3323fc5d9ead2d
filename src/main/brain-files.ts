import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Brain } from '../contract/agent.ts'
import type { Config } from '../contract/config/config.ts'
import type { BrainPort } from '../ports/brain.ts'
import { bareName, foundInPath, isOfSystem } from './path-program.ts'

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
      const changed = atStart.filter(isChanged).map(({ file, name }) => (name === undefined ? file : `${name} (found through PATH)`))
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
  /** The program's name where it has no path: `file` is what PATH led to. */
  name?: string
}

export function watchedFiles(brain: Brain | undefined, folder: string, path?: string): Watched[] {
  const files: Watched[] = filesOf(brain, folder).map((file) => ({ file, print: fingerprint(file) }))
  const name = bareName(brain)
  return name === undefined ? files : [...files, watchedProgram(name, foundInPath(name, path))]
}

function watchedProgram(name: string, file: string | undefined): Watched {
  if (file === undefined) return { name, file: '(nowhere)', print: missing }
  return { name, file, print: isOfSystem(file) ? ofSystem : programPrint(file) }
}

function isChanged({ file, print, name }: Watched): boolean {
  const isElsewhere = name !== undefined && (foundInPath(name) ?? '(nowhere)') !== file
  return isElsewhere || (print !== ofSystem && hasChanged(file, print))
}

/** Digests of what the named brains are made of, by their paths from the folder; of a program that PATH leads to, also where it lies. */
export function digestsOf(
  names: readonly string[],
  watching: ReadonlyMap<string, readonly Watched[]>,
  folder: string,
): Record<string, string> {
  const files = names.flatMap((name) => watching.get(name) ?? [])
  return Object.fromEntries(
    files.map(({ file, print, name }) =>
      name === undefined ? [relative(folder, file), print.digest] : [`${name} (found through PATH)`, `${file} ${print.digest}`],
    ),
  )
}

interface Fingerprint {
  /** Which file it is and when it was last touched in any way; the time of change cannot be set back by whoever writes the file. */
  state: string
  digest: string
}

const missing: Fingerprint = { state: 'missing', digest: 'missing' }
const ofSystem: Fingerprint = { state: 'system', digest: 'of the system' }
/** Runtimes are large, and reading one at every start takes longer than the start. */
const mostProgramBytes = 16 * 1024 * 1024

function fingerprint(file: string): Fingerprint {
  const state = stateOf(file)
  return state === undefined ? missing : { state, digest: digestOfFile(file) }
}

/** A program in PATH: by its content, a very large one by when its file was last touched in any way. */
function programPrint(file: string): Fingerprint {
  const state = stateOf(file)
  if (state === undefined) return missing
  return { state, digest: statSync(file).size > mostProgramBytes ? state : digestOfFile(file) }
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
