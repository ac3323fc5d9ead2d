import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { JournalFault } from '../../../ports/journal.ts'
import { isStoreError } from './faults.ts'

/** How far the journal had come when it last acknowledged something, and the hash that ended its chain there. */
export interface Head {
  position: number
  place: string
}

const shape = /^(\d{16}) ([0-9a-f]{64})\n$/
const length = 16 + 1 + 64 + 1

/** Beside the journal: `assay.head` for `assay.db`. */
export function headPath(journal: string): string {
  return `${journal.replace(/\.db$/, '')}.head`
}

/**
 * A small file that says how far the journal had come, written after each commit that is on disk and before it is acknowledged. SQLite takes a
 * log that is damaged or gone for a shorter one and says nothing; held against this file, what is missing is seen. It may be behind (a kill
 * in between, a disk that is full), never ahead.
 */
export class HeadFile {
  readonly #path: string
  #file: number | undefined
  /** What this process has seen the journal come to. */
  #seen: number | undefined
  /** Other processes append too: then the file may say more than this process knows. */
  #shared = false

  constructor(journal: string) {
    this.#path = headPath(journal)
  }

  /** The journal came from position `from` to `head`. */
  advance(from: number, head: Head): void {
    this.#shared ||= this.#seen !== undefined && this.#seen !== from
    this.#write(head, this.#shared)
  }

  /** The journal was opened and is at `head`. */
  begin(head: Head): void {
    if (head.position > 0) this.#write(head, true)
  }

  /** A write that fails leaves the file behind, which is allowed. */
  #write(head: Head, mayBeFurther: boolean): void {
    this.#seen = head.position
    try {
      this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o644)
      if (mayBeFurther && this.#written(this.#file) >= head.position) return
      writeSync(this.#file, `${String(head.position).padStart(16, '0')} ${head.place}\n`, 0, 'latin1')
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
    }
  }

  /** Two processes that commit one after the other may come here in the other order. */
  #written(file: number): number {
    const before = Buffer.alloc(length)
    readSync(file, before, 0, length, 0)
    return parsed(before.toString('latin1'))?.position ?? 0
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

function parsed(text: string): Head | undefined {
  const [, position, place] = shape.exec(text) ?? []
  return position === undefined || place === undefined ? undefined : { position: Number(position), place }
}

/** Undefined where there is none, or where the machine went down before its first writing was on the disk. */
function readHead(journal: string): Head | undefined {
  const path = headPath(journal)
  if (!existsSync(path)) return undefined
  const text = statSync(path).size > 10 * length ? '?'.repeat(length) : readFileSync(path, 'latin1')
  if (text.length < length || /^\0*$/.test(text)) return undefined
  const head = parsed(text)
  if (head) return head
  throw new JournalFault(
    'corrupt',
    `${path} was damaged or changed by hand: it does not say how far the journal had come. Remove it, then run \`assay audit verify\``,
  )
}

/**
 * Refuses a journal that lacks what it had acknowledged, without touching it: a log is looked at through a connection that cannot clear it
 * away. The record is read first, so that a journal that others are writing is never behind it.
 */
export function refuseLost(path: string): void {
  const head = readHead(path)
  if (!head) return
  const size = statSync(path, { throwIfNoEntry: false })?.size
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size
  if (size === undefined || (size === 0 && !log)) throw lost(path, head, size === undefined ? 'the file is gone' : 'the file is empty')
  const found = endOf(path)
  if (!found) return
  if (found.position < head.position) throw lost(path, head, `it ends after ${found.position}`)
  if (found.place === head.place || found.position > head.position) return
  throw new JournalFault(
    'corrupt',
    `${path} is not the journal that ${headPath(path)} was written for: ${advice(path, 'with this one')}. Or run \`assay audit verify --checkpoint\` first`,
  )
}

/** A connection that changes nothing. Where there is no log, and none can be made, the file is all there is, and nobody is writing it. */
export function readOnly(path: string): DatabaseSync {
  const whole = !existsSync(`${path}-wal`) && !mayMakeFiles(dirname(path))
  return new DatabaseSync(whole ? `${pathToFileURL(path)}?immutable=1` : path, { readOnly: true, timeout: 20_000 })
}

function mayMakeFiles(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return false
    throw error
  }
}

/** Undefined where the file cannot tell: whoever opens it finds out why, and says so. */
function endOf(path: string): Head | undefined {
  let db: DatabaseSync | undefined
  try {
    db = readOnly(path)
    const { n } = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'journal'").get() as { n: number }
    const empty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }
    if (n === 0) return empty.n === 0 ? { position: 0, place: '' } : undefined
    return db.prepare('SELECT position, place FROM journal WHERE id = 1').get() as Head | undefined
  } catch (error) {
    if (isStoreError(error)) return undefined
    throw error
  } finally {
    db?.close()
  }
}

function lost(path: string, head: Head, found: string): JournalFault {
  const what = `${path} has lost events: ${head.position} events were acknowledged, but ${found}. Its log (${path}-wal) was damaged or deleted, or an older copy was put in its place. Nothing was changed`
  return new JournalFault('corrupt', `${what}: ${advice(path, 'without the lost events')}`)
}

function advice(path: string, what: string): string {
  const home = dirname(path)
  return `put ${home} away with \`assay reset\` and restore the last backup; to go on ${what} knowingly, remove ${headPath(path)}`
}
