import { join } from 'node:path'
import { z } from 'zod'
import { Digest } from '../../../contract/canonical.ts'
import { readRecord, writeRecord } from '../durable-record.ts'
import { WorkspaceFault } from '../fault.ts'
import { safeName } from '../names.ts'

export const ObjectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'a git object id has 40 or 64 hex digits')

/** A state of the mission that the task's change is measured against. */
const Base = z.strictObject({
  /** Its files. */
  snapshot: Digest,
  commit: ObjectId,
  /** The latest commit of the task's work on top of it. */
  prepared: ObjectId.optional(),
})
export type Base = z.infer<typeof Base>

/** What is known of a task's worktree beside its files. The last base is in force. */
const WorktreeRecord = z.strictObject({
  version: z.literal(1),
  task: z.string(),
  bases: z.array(Base).min(1),
  /** False once it is closed, or while it is made anew: what is in the folder then is not work. */
  open: z.boolean(),
  /** Where the task's branch was put last. */
  tip: ObjectId,
  /** The commit that the worktree's index was made from. */
  indexed: ObjectId.optional(),
  /** Files that are to be in the workspace but may not be there yet. */
  pending: Digest.optional(),
})
export type WorktreeRecord = z.infer<typeof WorktreeRecord>

/** Bases older than this many are forgotten; there is one for each time that a task was merged or caught up. */
const maxBases = 100

const fileOf = (folder: string, task: string) => join(folder, `${safeName(task)}.worktree`)

export function readWorktree(folder: string, task: string): WorktreeRecord | undefined {
  const record = readRecord(fileOf(folder, task))
  if (record === undefined) return undefined
  const parsed = WorktreeRecord.safeParse(record)
  if (parsed.success && parsed.data.task === task) return parsed.data
  throw new WorkspaceFault(
    'bad_record',
    `${fileOf(folder, task)} does not say what the worktree of task ${task} started from; it is left as it is`,
  )
}

export function writeWorktree(folder: string, record: WorktreeRecord): WorktreeRecord {
  const kept = { ...record, bases: record.bases.slice(-maxBases) }
  writeRecord(fileOf(folder, record.task), kept)
  return kept
}

export function currentBase(record: WorktreeRecord): Base {
  const base = record.bases.at(-1)
  if (!base) throw new WorkspaceFault('bad_record', `the worktree of task ${record.task} has no base`)
  return base
}
