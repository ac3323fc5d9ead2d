import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * What keeps a file from being read, or from being written or made where it `writes`: in words, with what to do about it. Undefined where nothing does. It
 * never opens anything: what is no plain file could keep a reader waiting.
 */
export function obstacle(file: string, { writes }: { writes: boolean }): string | undefined {
  const here = look(file)
  if (here === 'absent') return aboveIt(file, writes)
  if (here === 'unreachable') return `${file} cannot be reached: mend it, or remove it`
  const target = here.isSymbolicLink() ? lookThrough(file) : here
  if (target === 'absent') return `${file} is a link that leads nowhere: remove it, or make what it leads to`
  if (target === 'unreachable') return `${file} is a link that cannot be followed: mend it, or remove it`
  if (target.isDirectory()) return `${file} is a folder where a file is to be: move it away`
  if (!target.isFile()) return `${file} is no plain file: move it away`
  if (!may(file, constants.R_OK)) return `${file} cannot be read: mend it (chmod u+r)`
  return writes && !may(file, constants.W_OK) ? `${file} cannot be written: mend it (chmod u+w)` : undefined
}

/** The nearest thing above that is there has to be a folder; to make something in it takes the right to. */
function aboveIt(file: string, writes: boolean): string | undefined {
  const above = dirname(file)
  const here = look(above)
  if (here === 'absent') return aboveIt(above, writes)
  const target = here !== 'unreachable' && here.isSymbolicLink() ? lookThrough(above) : here
  if (target === 'absent') return `${above} is a link that leads nowhere: remove it, or make what it leads to`
  if (target === 'unreachable') return `${above} cannot be reached: mend it, or remove it`
  if (!target.isDirectory()) return `${above} is no folder, and ${file} is to lie in it: move it away`
  return writes && !may(above, constants.W_OK | constants.X_OK) ? `${above} cannot be written: mend it (chmod u+w)` : undefined
}

type Seen = Stats | 'absent' | 'unreachable'
const look = (path: string): Seen => seen(() => lstatSync(path))
const lookThrough = (path: string): Seen => seen(() => statSync(path))

function seen(stat: () => Stats): Seen {
  try {
    return stat()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Below a file there is nothing: what is above says so.
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    if (code === undefined) throw error
    return 'unreachable'
  }
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    // Whatever the reason, it may not be done.
    return false
  }
}
