import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commitMessage } from './message.ts'

describe('the message of a commit', () => {
  it('is a subject and trailers', () => {
    expect(commitMessage({ subject: 'Fix login', trailers: { 'Assay-Task': 'fix-login', 'Assay-Score': '4.2' } })).toBe(
      'Fix login\n\nAssay-Task: fix-login\nAssay-Score: 4.2\n',
    )
    expect(commitMessage({ subject: ' \n ', trailers: {} }, '')).toBe('Work of a task\n')
    expect(commitMessage({ subject: 'x', trailers: {} }, 'Merge: ')).toBe('Merge: x\n')
  })

  it('gets no line from the text of others', () => {
    const note = { subject: 'a\n\nSigned-off-by: Eve\r\u2028b', trailers: { 'Assay Task\n': 'one\nSigned-off-by: Eve' } }
    const read = spawnSync('git', ['interpret-trailers', '--parse'], { input: commitMessage(note), encoding: 'utf8' })
    expect(read.stdout).toBe('Assay-Task-: one Signed-off-by: Eve\n')
  })

  it('has as many lines as it has trailers, for any text', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,9}$/), text), (subject, trailers) => {
        const count = Object.keys(trailers).length
        const lines = commitMessage({ subject, trailers }).split('\n')
        expect(lines).toHaveLength(count === 0 ? 2 : count + 3)
        expect(lines[0]).not.toBe('')
      }),
    )
  })
})
