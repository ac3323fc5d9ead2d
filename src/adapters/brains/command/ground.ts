import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { JudgeQuestion } from '../../../ports/brain.ts'

/** Where a command's own files are. */
export interface Ground {
  argv: string[]
  /** The configuration's folder. */
  base: string
  /** Where a folder that is named from there is. */
  at(path: string): string
  /** Folders besides that the command must be able to read. */
  copies: string[]
}

/** The configuration's folder itself. Words that name files of it mean those, whatever lies under the same name where the process runs. */
export function plainGround([program = '', ...words]: readonly string[], configDir: string): Ground {
  const at = (path: string) => resolve(configDir, path)
  return { argv: [program, ...words.map((word) => ownWord(word, at))], base: configDir, at, copies: [] }
}

/**
 * The same for a judge. What lies in a folder that work is done in is taken from a copy of it as it was before: neither the judge's program nor
 * anything that it loads from beside itself is a worker's.
 */
export async function judgeGround(
  argv: readonly string[],
  configDir: string,
  before: NonNullable<JudgeQuestion['beside']>,
): Promise<Ground> {
  const home = realpathSync(configDir)
  const named = argv.map((word) => resolve(home, word.slice(optionOf(word).length)))
  const wanted = before.filter(({ folder }) => [home, ...named].some((path) => isWithin(folder, path)))
  if (wanted.length === 0) return plainGround(argv, configDir)
  const folders = await Promise.all(wanted.map(async ({ folder, copy }) => ({ folder, copy: await copy() })))
  const at = (path: string) => {
    const place = resolve(home, path)
    const inside = folders.find(({ folder }) => isWithin(folder, place))
    return inside ? join(inside.copy, relative(inside.folder, place)) : place
  }
  const [program = '', ...words] = argv
  // A program that was not there before the work is not there at all.
  return {
    argv: [program.includes('/') ? at(program) : program, ...words.map((word) => ownWord(word, at))],
    base: at('.'),
    at,
    copies: folders.map(({ copy }) => copy),
  }
}

function ownWord(word: string, at: (path: string) => string): string {
  const option = optionOf(word)
  const path = word.slice(option.length)
  if (word.startsWith('-') && option === '') return word
  return isFile(at(path)) ? option + at(path) : word
}

/** What stands before a path in a word such as `--import=./setup.mjs`. */
function optionOf(word: string): string {
  return word.startsWith('-') ? word.slice(0, word.indexOf('=') + 1) : ''
}

/** A word that no file can be named by, such as a whole script, names none. */
function isFile(path: string): boolean {
  return existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way !== '..' && !way.startsWith('../')
}
