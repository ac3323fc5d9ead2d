import { utimesSync } from 'node:fs'
import { errnoOf } from '../fault.ts'

/**
 * An object that a take relies on is marked as used, so that clearing away leaves it alone until the event that names it is stored.
 * One that was marked within this time is not marked again; whoever clears away waits for longer.
 */
export const freshForMs = 3_600_000

/** False where it has vanished meanwhile or cannot be marked: then it has to be written anew. */
export function keepFresh(place: string, markedMs: number): boolean {
  const now = Date.now()
  if (now - markedMs < freshForMs) return true
  try {
    utimesSync(place, now / 1000, now / 1000)
    return true
  } catch (error) {
    // Somebody else's object cannot be marked, so it is replaced by one of our own.
    if (['ENOENT', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) return false
    throw error
  }
}
