import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { JournalFault } from '../../ports/journal.ts'
import type { Batch } from './batch.ts'
import { faultOf, isStoreError } from './file/faults.ts'
import type { HeadFile } from './file/head.ts'
import { busyTimeoutMs } from './file/open.ts'

/** Runs inside the shared transaction. What it throws is its own caller's affair, provided that it wrote nothing before. */
type Run<T> = (batch: Batch) => T

/** Whether a job is on disk when it is acknowledged. What only concerns leases need not be: losing it means that the machine went down, and every holder with it. */
export type Durability = 'durable' | 'lease'

interface Job {
  run: Run<unknown>
  durability: Durability
  outcome: unknown
  /** Called after the commit, or never. */
  acknowledge: () => void
  reject: (error: unknown) => void
}

/** Bounds how long one transaction keeps other processes waiting. */
const maxJobsPerTransaction = 512
/** Turns of the event loop in which what comes may join a transaction. */
const mostTurnsGathered = 4
/** Standing in line for the lock blocks the event loop for at most this long at a time. */
const lockSliceMs = 10

/**
 * Group commit: whatever waits to be written in one turn of the event loop goes into one transaction and shares its sync to disk.
 * Nothing is acknowledged before the commit; a commit that fails acknowledges nothing. After a failed sync nobody can know what is
 * on disk, so the journal stops for good: only a restart, which reads the disk, finds out.
 */
export class Committer {
  readonly #db: DatabaseSync
  readonly #path: string
  /** Which file it was when it was opened. */
  readonly #file: string | undefined
  readonly #batch: Batch
  readonly #head: HeadFile
  readonly #onNews: () => void
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #queue: Job[] = []
  #draining: Promise<void> | undefined
  /** Why nothing more is taken. */
  #refusal: JournalFault | undefined
  /** The store failed in a way that leaves its state unknown. */
  #halted = false
  /** How the file is synced now; it was opened for durable writing. */
  #synced: Durability = 'durable'

  constructor(db: DatabaseSync, path: string, batch: Batch, head: HeadFile, onNews: () => void) {
    this.#db = db
    this.#path = path
    this.#batch = batch
    this.#head = head
    this.#onNews = onNews
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#file = fileAt(path)
  }

  /** Throws once the journal has stopped or was closed. */
  assertUsable(): void {
    if (this.#refusal !== undefined) throw this.#refusal
  }

  submit<T>(durability: Durability, run: Run<T>): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    return new Promise<T>((resolve, reject) => {
      const job: Job = { run, durability, outcome: undefined, acknowledge: () => resolve(job.outcome as T), reject }
      this.#queue.push(job)
      this.#draining ??= this.#drain()
    })
  }

  /** Refuses what comes from now on; what was submitted before is still written. */
  async stop(fault: JournalFault): Promise<void> {
    this.#refusal ??= fault
    await this.#draining
  }

  async #drain(): Promise<void> {
    await nextTurn()
    while (this.#queue.length > 0) {
      await this.#gather()
      try {
        if (this.#halted) throw this.#refusal
        this.#assertSameFile()
        await this.#commitNext()
      } catch (error) {
        this.#rejectAll(this.#queue.splice(0), error)
      }
      await nextTurn()
    }
    this.#draining = undefined
  }

  /** As long as every turn of the event loop brings more, one sync to disk soon serves them all. An idle process loses nothing by it. */
  async #gather(): Promise<void> {
    for (let turn = 0, before = 0; turn < mostTurnsGathered && this.#queue.length > before; turn += 1) {
      before = this.#queue.length
      await nextTurn()
    }
  }

  /**
   * A journal whose file was deleted or replaced writes into nothing, or into the log of another one. Looked at before each transaction, so that no
   * other is damaged, and before each acknowledgement, so that none is given for what is lost.
   */
  #assertSameFile(): void {
    if (this.#file !== undefined && fileAt(this.#path) === this.#file) return
    throw new JournalFault(
      'io',
      `The journal ${this.#path} was deleted or replaced while it was open: nothing more is written. Start again, or restore the last backup`,
    )
  }

  /** Waits for other processes in slices, so that this one keeps serving meanwhile; what arrives in that time goes along. */
  async #commitNext(): Promise<void> {
    const giveUpAt = performance.now() + busyTimeoutMs
    for (;;) {
      const jobs = this.#queue.slice(0, maxJobsPerTransaction)
      const fault = this.#takeLock(jobs.some((job) => job.durability === 'durable') ? 'durable' : 'lease')
      if (fault === undefined) {
        this.#queue.splice(0, jobs.length)
        return this.#transact(jobs)
      }
      if (fault.code !== 'busy' || performance.now() > giveUpAt) throw fault
      await delay(1)
    }
  }

  /** Settings are not prepared: SQLite applies them when it compiles them. */
  #takeLock(wanted: Durability): JournalFault | undefined {
    if (this.#synced !== wanted) this.#db.exec(`PRAGMA synchronous = ${wanted === 'durable' ? 'FULL' : 'NORMAL'}`)
    this.#synced = wanted
    this.#db.exec(`PRAGMA busy_timeout = ${lockSliceMs}`)
    try {
      this.#begin.run()
      return undefined
    } catch (error) {
      const fault = faultOf(error, this.#path)
      if (fault instanceof JournalFault) return fault
      throw error
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    }
  }

  #transact(jobs: Job[]): void {
    const written: Job[] = []
    try {
      this.#batch.start()
      for (const job of jobs) if (this.#runOne(job)) written.push(job)
      this.#batch.finish()
      this.#commit.run()
    } catch (error) {
      this.#rollBack()
      this.#rejectAll(jobs, error)
      return
    }
    try {
      this.#assertSameFile()
    } catch (error) {
      return this.#rejectAll(written, error)
    }
    const { advanced } = this.#batch
    if (advanced) this.#head.advance(advanced.from, advanced.to)
    for (const job of written) job.acknowledge()
    if (this.#batch.announced) this.#onNews()
  }

  #runOne(job: Job): boolean {
    try {
      job.outcome = job.run(this.#batch)
      return true
    } catch (error) {
      if (isStoreError(error)) throw error
      job.reject(error)
      return false
    }
  }

  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch (error) {
      this.#halt(faultOf(error, this.#path))
    }
  }

  #rejectAll(jobs: Job[], error: unknown): void {
    const fault = faultOf(error, this.#path)
    if (fault instanceof JournalFault && (fault.code === 'io' || fault.code === 'corrupt')) this.#halt(fault)
    for (const job of jobs) job.reject(fault)
  }

  #halt(fault: unknown): void {
    if (this.#halted) return
    this.#halted = true
    const cause = fault instanceof Error ? fault.message : String(fault)
    const code = fault instanceof JournalFault ? fault.code : 'io'
    this.#refusal = new JournalFault(code, `The journal stopped and takes nothing more; start the process again. ${cause}`, {
      cause: fault,
    })
  }
}

function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}/${found.ino}`
}
