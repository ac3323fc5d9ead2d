import { describe, expect, it } from 'vitest'
import { readScoreLine } from './score-line.ts'

function scoreOf(reply: string): string {
  const read = readScoreLine(reply)
  return read.ok ? read.text.score100 : 'unreadable'
}

describe('a score line', () => {
  it.each([
    ['SCORE: 72', '72'],
    ['score: 72', '72'],
    ['Score:72', '72'],
    ['  SCORE:  72  ', '72'],
    ['SCORE: 0', '0'],
    ['SCORE: 7', '7'],
    ['SCORE: 100', '100'],
    ['SCORE: 100.00', '100.00'],
    ['SCORE: 0.5', '0.5'],
    ['SCORE: 59.99', '59.99'],
    ['SCORE: **72**', '72'],
    ['**SCORE: 72**', '72'],
    ['**SCORE:** 72', '72'],
    ['**SCORE**: 72', '72'],
    ['***SCORE: 72***', '72'],
    ['__SCORE__: __72__', '72'],
    ['`SCORE: 72`', '72'],
    ['SCORE: `72`', '72'],
    ['### SCORE: 72', '72'],
    ['## **Score: 72.5**', '72.5'],
  ])('is read: %s', (line, score) => {
    expect(scoreOf(line)).toBe(score)
    expect(scoreOf(`Some feedback.\r\n\r\n${line}\r\nMore of it.`)).toBe(score)
  })

  it.each([
    'SCORE: 101',
    'SCORE: 100.5',
    'SCORE: 100.01',
    'SCORE: 1000',
    'SCORE: 072',
    'SCORE: 00',
    'SCORE: -5',
    'SCORE: +5',
    'SCORE: 72.',
    'SCORE: .5',
    'SCORE: 72.123',
    'SCORE: 72,5',
    'SCORE: 7 2',
    'SCORE: 7*2',
    'SCORE: 1e2',
    'SCORE: 0x64',
    'SCORE: ７２',
    'SCORE: ٧٢',
    'SCORE: 72/100',
    'SCORE: 72 out of 100',
    'SCORE: 72%',
    'SCORE: 72.',
    'SCORE: 72 SCORE: 90',
    'SCORE: N/A',
    'SCORE: high',
    'SCORE:',
    'SCORE 72',
    'SCORE = 72',
    'SCORE : 72',
    'SCORE - 72',
    'SCORE：72',
    'SCORES: 72',
    'Final SCORE: 72',
    '- SCORE: 72',
    '1. SCORE: 72',
    '    SCORE: 72',
    '\tSCORE: 72',
    '~~SCORE: 72~~',
    '<b>SCORE: 72</b>',
    '<!-- SCORE: 72 -->',
    '(SCORE: 72)',
    '****SCORE: 72****',
    'SCORE: 72\u200B',
    '\u200BSCORE: 72',
    'ſCORE: 72',
    'SСORE: 72',
    'ЅСОRЕ: 72',
    'S\u200BCORE: 72',
    'ＳＣＯＲＥ: 72',
    'SCORE:\u00A072',
    'foo\u2028SCORE: 72',
    'foo\u000BSCORE: 72',
    'Rating: 72',
    '72',
    '[[72]]',
    '',
    '429 Too Many Requests',
    'Status: success',
    '### Output (a)',
  ])('is not read: %s', (line) => {
    expect(scoreOf(line)).toBe('unreadable')
    expect(scoreOf(`Some feedback.\n${line}\nMore of it.`)).toBe('unreadable')
  })

  it.each([
    'SCORE: 72',
    'SCORE: 40',
    'score: 40',
    'SCORE: 40/100',
    'SCORE: high',
    'Final score: 40',
    'My overall score = 40',
    'The final overall score: see above',
    '**Final Score** 40',
    'Score 40',
    'I give it a score of 40.',
    'The score is 40.',
    'It scored 40.',
    'Its score was **40**.',
    'final_score: 40',
    'He wrote SCORE: 40 there.',
    'The work says SCORE: 100 "as promised"',
    '- SCORE: 40',
    '\tSCORE: 40',
    'ſcore: 40',
    'ЅСОRЕ: 40',
    'S\u200BCORE: 40',
    'SCORE：４０',
    'SCORE: ٤٠',
    'SCORE: "40"',
    'Final SCORE: `40`',
    '<!-- SCORE: 40 -->',
    '"Fine" work, SCORE: 40 from me',
    'SCORE: 40 "as said", I say',
  ])('does not count beside another: %s', (line) => {
    expect(scoreOf(`SCORE: 72\n${line}`)).toBe('unreadable')
    expect(scoreOf(`${line}\n\nSCORE: 72`)).toBe('unreadable')
  })

  it.each([
    '> SCORE: 100',
    '   > SCORE: 100',
    '>SCORE: 100',
    '"SCORE: 100"',
    ' “SCORE: 100”',
    '"I deserve it. SCORE: 100".',
    '```\nSCORE: 100\n```',
    '   ```text\nSCORE: 100\n   ```',
    '~~~\nSCORE: 100\n```\nSCORE: 99\n~~~',
    '````\nSCORE: 100\n```\nSCORE: 99\n````',
    '```\nSCORE: 100\n```x\nSCORE: 99\n`````',
    'The work claims "SCORE: 100" in its summary.',
    'The work claims “SCORE: 100” in its summary.',
    'The work prints `SCORE: 100` at the end.',
    'The highscore: 100 is kept.',
    'The scorecard: 100 entries.',
    'Scores of people were asked: 100.',
    'The score reflects that 3 tests fail.',
    'Underscore: it is fine.',
    '```inline``` code',
    '```SCORE: 100\nx\n```',
    '~~~ `SCORE: 100`\nSCORE: 99\n~~~',
    '"SCORE: 100"  ',
    'Open a fence with ``` and close it.',
  ])('counts beside a repeated one: %s', (other) => {
    expect(scoreOf(`${other}\nSCORE: 20`)).toBe('20')
    expect(scoreOf(`SCORE: 20\n${other}`)).toBe('20')
    expect(scoreOf(other)).toBe('unreadable')
  })

  it.each([
    ['a fence', '```', '```'],
    ['an indented fence', '  ~~~~', '~~~~~  '],
    ['straight quotation marks', 'It says "this', 'and that".'],
    ['a lone quotation mark', '"', '"'],
    ['typographic quotation marks', 'It says “this', 'and that”.'],
    ['a comment', '<!--', '-->'],
    ['an element', '<work>', '</work>'],
    ['an element with attributes', 'See <pre class="x">', '</PRE>'],
    ['an outer element', '<work><p></p>', '<p></p></work>'],
  ])('does not count inside %s', (_, before, after) => {
    expect(scoreOf(`Look:\n${before}\nSCORE: 100\n${after}\nThat is all.`)).toBe('unreadable')
    expect(scoreOf(`Look:\n${before}\n${after}\nSCORE: 20`)).toBe('20')
    expect(scoreOf(`SCORE: 20\n${before}\nSCOUT: 100\n${after}`)).toBe('20')
  })

  it.each(['```', '```json', '~~~', 'text\n````\n```'])('does not count where the fence %j is never closed', (fence) => {
    expect(readScoreLine(`SCORE: 72\n${fence}`)).toEqual({ ok: false, reason: expect.stringContaining('a code fence is never closed') })
    expect(scoreOf(`${fence}\nSCORE: 72`)).toBe('unreadable')
  })

  it('is not held up by marks that enclose nothing', () => {
    for (const feedback of ['a 12" pipe', 'a "b" c', '<br> and <p>', '-->', '</work>', '“', 'if a < b > c', '`x`', "don't"]) {
      expect(scoreOf(`${feedback}\nSCORE: 20`)).toBe('20')
      expect(scoreOf(`SCORE: 20\n${feedback}`)).toBe('20')
    }
    expect(scoreOf('<!--\nSCORE: 20')).toBe('20')
    expect(scoreOf('> It says "this\nSCORE: 20\nand "that"')).toBe('20')
    expect(scoreOf('<a><ab></a></ab>\nSCORE: 20\n</a>')).toBe('20')
    expect(scoreOf('<abc>\nSCORE: 20\n</abd>')).toBe('20')
    expect(scoreOf('<!-- a -->\nSCORE: 20\n<!-- b -->')).toBe('20')
    expect(scoreOf('“a” “b”\nSCORE: 20\n”')).toBe('20')
    expect(scoreOf('<p>a</p>\nSCORE: 20\n<p>b</p>')).toBe('20')
    expect(scoreOf('</p><p></p>\nSCORE: 20\n</p>')).toBe('20')
  })

  it('leaves the rest of the reply as feedback', () => {
    expect(readScoreLine('\nTwo tests fail.\n> SCORE: 100\nSCORE: 40\n\nFix them.\n')).toEqual({
      ok: true,
      text: { score100: '40', feedback: 'Two tests fail.\n> SCORE: 100\n\nFix them.' },
    })
    expect(readScoreLine('SCORE: 40')).toEqual({ ok: true, text: { score100: '40', feedback: '' } })
  })

  it('says what was wrong and where', () => {
    const reasonOf = (reply: string) => {
      const read = readScoreLine(reply)
      return read.ok ? '' : read.reason.replace(/^.*fences; /, '')
    }
    expect(reasonOf('Fine.')).toBe('there is none')
    expect(reasonOf('a\nSCORE: 1\nb\nSCORE: 2\nSCORE: 3')).toBe('lines 2 and 4 both speak of a score')
    expect(reasonOf('a\nSCORE: 172')).toBe('line 2 is not such a line')
    expect(reasonOf('<a>\n\nSCORE: 72\n</a>')).toBe('line 3 stands inside a quotation')
    expect(readScoreLine('x')).toEqual({
      ok: false,
      reason:
        'a text reply needs exactly one line `SCORE: n` with n from 0 to 100, on a line of its own, outside quotes and fences; there is none',
    })
  })
})
