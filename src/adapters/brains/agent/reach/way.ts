import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** Links that are followed; the system follows no more. */
const mostLinks = 40

/**
 * Every place that an absolute path leads through to its end, links followed: whoever can write one of them decides what lies at the end. What is not there
 * is on the way as well, for it can be made.
 */
export function wayTo(path: string): string[] {
  const way: string[] = []
  const steps = stepsOf(path)
  let at = '/'
  let links = 0
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '..') {
      at = dirname(at)
      continue
    }
    const place = join(at, step)
    way.push(place)
    const target = linkAt(place)
    if (target === undefined) {
      at = place
      continue
    }
    links += 1
    if (links > mostLinks) return way
    if (isAbsolute(target)) at = '/'
    steps.unshift(...stepsOf(target))
  }
  return way
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '' && step !== '.')
}

/** Where a link leads; undefined for what is none, is not there, or may not be looked at. */
function linkAt(place: string): string | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(place) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return undefined
  }
}
