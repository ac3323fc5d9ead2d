import { readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../ports/clock.ts'

export interface Machine {
  /** Names this start of the machine; undefined where it has no name for it. */
  boot: string | undefined
  /** Milliseconds by a clock that all processes share, that nobody sets, and that begins anew with the machine. */
  steady(): number
  wall(): number
}

/** A lease that an earlier start of the machine gave ends no later than this: whoever had it is gone. */
const leaseOfBeforeMs = 60_000

/**
 * The clock of the queue. Processes that share a journal share a machine, hence the time since it was started: setting the wall clock neither
 * ends leases nor puts off what waits. After another start of the machine, what waited is due. Where starts have no names, the wall clock it is.
 */
export function queueClock(db: DatabaseSync, machine: Machine = thisMachine()): Pick<Clock, 'now'> {
  const { boot } = machine
  if (boot === undefined) return { now: () => machine.wall() }
  const stored = () => db.prepare('SELECT boot, added FROM queue_clock WHERE id = 1').get() as { boot: string; added: number } | undefined
  const known = stored()
  const added = known?.boot === boot ? known.added : begin(db, boot, machine, stored)
  return { now: () => Math.floor(machine.steady()) + added }
}

/** The first process after a start of the machine counts from the wall clock; those who come at the same time go by what it says. */
function begin(db: DatabaseSync, boot: string, machine: Machine, stored: () => { boot: string; added: number } | undefined): number {
  db.exec('BEGIN IMMEDIATE')
  try {
    const known = stored()
    if (known?.boot === boot) {
      db.exec('ROLLBACK')
      return known.added
    }
    const steady = Math.floor(machine.steady())
    const added = Math.floor(machine.wall()) - steady
    db.prepare('INSERT OR REPLACE INTO queue_clock VALUES (1, ?, ?)').run(boot, added)
    const now = steady + added
    db.prepare('UPDATE work SET waiting = 0, ready_at = ? WHERE waiting = 1 AND owner IS NULL').run(now)
    db.prepare('UPDATE work SET ready_at = min(ready_at, ?) WHERE waiting = 1').run(now + leaseOfBeforeMs)
    db.exec('COMMIT')
    return added
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function thisMachine(): Machine {
  return { boot: bootName(), steady: () => Number(process.hrtime.bigint() / 1_000_000n), wall: () => Date.now() }
}

/** Only Linux names its starts; the name is the same in every container of a machine. */
function bootName(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
