import { z } from 'zod'
import { Digest } from '../../contract/canonical.ts'
import { readRecord, writeRecord } from './durable-record.ts'
import { WorkspaceFault } from './fault.ts'

/** What the folder held before the task's first attempt, kept so that a restart measures the change against the same. */
const BaseRecord = z.strictObject({ version: z.literal(1), task: z.string(), base: Digest })

/** Undefined where none was kept yet. */
export function readBase(file: string, task: string): Digest | undefined {
  const record = readRecord(file)
  if (record === undefined) return undefined
  const parsed = BaseRecord.safeParse(record)
  if (!parsed.success || parsed.data.task !== task) {
    throw new WorkspaceFault('bad_record', `${file} does not say what the workspace of task ${task} started from; it is left as it is`)
  }
  return parsed.data.base
}

/** Durable when it returns; there is a whole record or none. */
export function writeBase(file: string, task: string, base: Digest): void {
  writeRecord(file, { version: 1, task, base })
}
