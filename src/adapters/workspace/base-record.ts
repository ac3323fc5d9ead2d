import { randomUUID } from 'node:crypto'
import { closeSync, constants, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { Digest } from '../../contract/canonical.ts'
import { errnoOf, WorkspaceFault } from './fault.ts'

const { O_RDONLY, O_DIRECTORY = 0 } = constants

/** What the folder held before the task's first attempt, kept so that a restart measures the change against the same. */
const BaseRecord = z.strictObject({ version: z.literal(1), task: z.string(), base: Digest })

/** Undefined where none was kept yet. */
export function readBase(file: string, task: string): Digest | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  const parsed = BaseRecord.safeParse(jsonOrNothing(text))
  if (!parsed.success || parsed.data.task !== task) {
    throw new WorkspaceFault('bad_record', `${file} does not say what the workspace of task ${task} started from; it is left as it is`)
  }
  return parsed.data.base
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Durable when it returns; there is a whole record or none. */
export function writeBase(file: string, task: string, base: Digest): void {
  const temp = `${file}-${randomUUID()}`
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(temp, `${JSON.stringify({ version: 1, task, base })}\n`, { flag: 'wx', flush: true })
    renameSync(temp, file)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
  syncFolder(dirname(file))
  syncFolder(dirname(dirname(file)))
}

/** Makes the names in a folder durable; Windows does so by itself. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(folder, O_RDONLY | O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
