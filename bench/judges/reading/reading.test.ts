import { describe, expect, it } from 'vitest'
import type { Recorded } from '../data.ts'
import { countReadings, readingOf } from './reading.ts'

const row = (fmt: string, text: string, rest: Partial<Recorded> = {}): Recorded => ({ id: 'r1', fmt, text, expect: 'parse', ...rest })
const read = (fmt: string, text: string) => readingOf(row(fmt, text))

describe('recorded formats in the words of the reader', () => {
  it('reads a status on a line of its own, or as the last sentence, and only one', () => {
    const fmt = 'thoughts-status'
    expect(read(fmt, 'Thoughts: the order status is shown. A score of 3 too.\nStatus: "failure"')).toBe('failure')
    expect(read(fmt, 'Thoughts: it is done. Status: success')).toBe('success')
    expect(read(fmt, 'Status: success\nStatus: success')).toBeUndefined()
    expect(read(fmt, 'Status: success\n> Status: failure')).toBe('success')
    expect(read(fmt, '```\nStatus: success\n```')).toBeUndefined()
    expect(read(fmt, 'Status: successful')).toBeUndefined()
    expect(read(fmt, 'Status: unknown')).toBeUndefined()
  })

  it('reads a score of the format’s own range in its layouts', () => {
    const fmt = 'reasoning-score-1-5'
    for (const text of [
      '### Score: 4',
      '**Score**: 4',
      '2. **Score**: 4',
      '1. Reasoning: fine. 2. Score: 4',
      '### Score\n\n4',
      '### Score:\n**4**',
    ])
      expect(read(fmt, text)).toBe('4')
    for (const text of ['Score: 6', 'Score: 0', 'Score: 4.5', '### Score', 'It scored 9.\nScore: 4', '4'])
      expect(read(fmt, text)).toBeUndefined()
  })

  it('reads marks, bare labels and tags that stand once', () => {
    expect(read('mt-bench-[[N]]-1-10', 'Rating: [[10]]')).toBe('10')
    expect(read('mt-bench-[[N]]-1-10', 'Rating: [[9]] or [[10]]')).toBeUndefined()
    expect(read('mt-bench-[[N]]-1-10', 'Rating: [[11]]')).toBeUndefined()
    expect(read('bare-label-1-2', '2\n\nThe second is right.')).toBe('2')
    expect(read('bare-label-1-2', 'ERROR 429: see page 2')).toBeUndefined()
    expect(read('bare-label-1-2', '1\n2')).toBeUndefined()
    expect(read('angle-tag', '<SATISFIED>: it is.')).toBe('SATISFIED')
    expect(read('angle-tag', '<UNSATISFIED>: it is not <SATISFIED>.')).toBeUndefined()
  })

  it('reads a comparison that ends in its verdict and argues for nothing else', () => {
    const fmt = 'pairwise-output-a-b'
    expect(read(fmt, ' Output (b).')).toBe('b')
    expect(read(fmt, 'It shows that Output (a) is better in tone. Therefore, Output (a) is better.')).toBe('a')
    expect(read(fmt, 'One may say that Output (b) is better in tone. Therefore, Output (a) is better.')).toBeUndefined()
    expect(read(fmt, 'Output (a) is better. It is short. Therefore, Output (a) is better.')).toBeUndefined()
    expect(read(fmt, 'Output (a) is better. Output (b) is long.')).toBeUndefined()
    expect(read(fmt, 'Output (a) is better because it is short.')).toBeUndefined()
    expect(readingOf(row(fmt, 'Therefore, Output (a) is better.', { finish: 'length' }))).toBeUndefined()
  })

  it('reads a document that is the whole reply, with the right names and levels', () => {
    const fmt = 'json-7dims-1-5'
    const names = ['Guidance', 'Informativeness', 'Relevance', 'Safety', 'Empathy', 'Helpfulness', 'Understanding']
    const levels = Object.fromEntries(names.map((name, index) => [name, (index % 5) + 1]))
    const whole = JSON.stringify({ ...levels, Overall: 3.7, Explanation: 'because' })
    expect(read(fmt, whole)).toBe('[1,2,3,4,5,1,2,3]')
    expect(read(fmt, `\`\`\`json\n${whole}\n\`\`\``)).toBe('[1,2,3,4,5,1,2,3]')
    expect(read(fmt, `Here it is: ${whole}`)).toBeUndefined()
    expect(read(fmt, JSON.stringify({ ...levels, Explanation: 'no overall' }))).toBeUndefined()
    expect(read(fmt, JSON.stringify({ ...levels, Overall: 'X' }))).toBeUndefined()
    expect(read(fmt, JSON.stringify({ ...levels, Safety: 6, Overall: 3 }))).toBeUndefined()
    expect(read(fmt, `${whole.slice(0, -1)},"Safety":5}`)).toBeUndefined()
    expect(read(fmt, whole.slice(0, -1))).toBeUndefined()
    for (const score of ['1', '2', '9', '10'])
      expect(read('json-strengths-weaknesses-score-1-10', JSON.stringify({ strengths: 's', weaknesses: 'w', score }))).toBe(score)
    for (const score of ['0', '11', 'high', 7])
      expect(read('json-strengths-weaknesses-score-1-10', JSON.stringify({ score }))).toBeUndefined()
  })

  it('counts a reading that nobody expects as a misreading', () => {
    const fmt = 'thoughts-status'
    const rows = [
      row(fmt, 'Status: success', { expected_verdict: 'success' }),
      row(fmt, 'Status: success', { expected_verdict: 'failure', id: 'wrong' }),
      row(fmt, 'Status: success', { expect: 'reject', id: 'forbidden' }),
      row(fmt, 'sorry', { expect: 'reject' }),
    ]
    expect(countReadings(rows)).toEqual([
      { fmt, expect: 'parse', rows: 2, read: 2, rejected: 0, misread: 1, misreadIds: ['wrong'] },
      { fmt, expect: 'reject', rows: 2, read: 1, rejected: 1, misread: 1, misreadIds: ['forbidden'] },
    ])
    expect(() => countReadings([row('unheard-of', 'x')])).toThrow('no table')
  })
})
