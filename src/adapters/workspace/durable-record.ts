import { randomUUID } from 'node:crypto'
import { closeSync, constants, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './fault.ts'

const { O_RDONLY, O_DIRECTORY = 0 } = constants

/** What a record's file says: undefined where there is no file, null where it is no JSON. */
export function readRecord(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Durable when it returns; there is a whole record or none. */
export function writeRecord(file: string, record: object): void {
  written(file, record, (temp) => renameSync(temp, file))
}

/** The same, but only where there is none yet; false where another process was first. */
export function writeFirstRecord(file: string, record: object): boolean {
  let first = true
  written(file, record, (temp) => {
    try {
      linkSync(temp, file)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
      first = false
    }
    rmSync(temp)
  })
  return first
}

function written(file: string, record: object, place: (temp: string) => void): void {
  const temp = `${file}-${randomUUID()}`
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(temp, `${JSON.stringify(record)}\n`, { flag: 'wx', flush: true })
    place(temp)
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
