import { expect, it } from 'vitest'
import { JournalFault } from '../../../ports/journal.ts'
import { faultOf } from './faults.ts'

function storeError(errcode: number): Error {
  return Object.assign(new Error('from the store'), { code: 'ERR_SQLITE_ERROR', errcode })
}

function systemError(code: string): Error {
  return Object.assign(new Error('from the system'), { code, syscall: 'open' })
}

it.each([
  [storeError(13), 'disk_full'],
  [storeError(4874), 'disk_full'],
  [storeError(8), 'read_only'],
  [storeError(8 | (5 << 8)), 'read_only'],
  [storeError(14), 'read_only'],
  [storeError(11), 'corrupt'],
  [storeError(11 | (1 << 8)), 'corrupt'],
  [storeError(19), 'corrupt'],
  [storeError(26), 'not_a_journal'],
  [storeError(5 | (2 << 8)), 'busy'],
  [storeError(10 | (4 << 8)), 'io'],
  [Object.assign(new RangeError('too large'), { code: 'ERR_OUT_OF_RANGE' }), 'corrupt'],
  [systemError('EROFS'), 'read_only'],
  [systemError('EACCES'), 'read_only'],
  [systemError('ENOSPC'), 'disk_full'],
  [systemError('EIO'), 'io'],
])('%o is told as %s, with the path and the cause', (error, code) => {
  const fault = faultOf(error, '/somewhere/assay.db') as JournalFault
  expect(fault).toBeInstanceOf(JournalFault)
  expect(fault.code).toBe(code)
  expect(fault.message).toContain('/somewhere/assay.db')
  expect(fault.message).toContain(error.message)
  expect(fault.cause).toBe(error)
})

it("passes on what is not the store's fault", () => {
  const bug = new TypeError('a bug')
  expect(faultOf(bug, '/x')).toBe(bug)
  expect(faultOf('text', '/x')).toBe('text')
  const fault = new JournalFault('closed', 'closed')
  expect(faultOf(fault, '/x')).toBe(fault)
})
