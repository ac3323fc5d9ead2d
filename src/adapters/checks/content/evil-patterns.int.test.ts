import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCheckRunner } from '../runner.ts'

/** Each ruins a backtracking engine on a text made for it: pattern, what is repeated, and what comes at the end. */
const evil: [pattern: string, repeated: string, end?: string][] = [
  ['(a+)+$', 'a'],
  ['(a|a)*b', 'a'],
  ['^(a|aa)+$', 'a'],
  ['(a*)*c', 'a'],
  ['(.*a){12}b', 'a'],
  ['(x+x+)+y', 'x'],
  ['([a-zA-Z]+)*$', 'a'],
  ['(a|b|ab)*c', 'ab'],
  ['(\\w+\\s?)*$', 'a '],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ['(a|a?)+$', 'a'],
  ['(.*)*x$', 'a'],
  ['(.+)+x$', 'a'],
  ['(a+){10}$', 'a'],
  ['(a?){30}a{30}$', 'a'],
  ['^(\\d+)*$', '1'],
  ['\\d+\\d+x', '1'],
  ['(\\d+\\d+)+$', '1'],
  ['^\\s+|\\s+$', ' '],
  ['(\\s+)*\\n$', ' '],
  ['([^"]*"?)*$', 'a'],
  ['^(.*?,){11}P', 'a,'],
  ['(.*?,)*P$', '1,'],
  ['^(\\w+)+@\\w+$', 'a'],
  ['^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@)$', 'a'],
  ['^([\\w.%+-]+)+@([\\w-]+\\.)+[\\w]{2,}$', 'a.'],
  ['(https?://)?([\\w.]+)+/?$', 'w.'],
  ['<(.|\\n)*>$', '<a'],
  ['<!--(.|\\s)*-->', '<!--'],
  ['/\\*(.|\\s)*\\*/', '/*'],
  ['(<[^>]*>)*x$', '<a>'],
  ['^(-?\\d+)+(\\.\\d+)*e$', '1.'],
  ['(([01]+)|([a-f]+))*z', '0a'],
  ['(a|ab)(bc|c)*d$', 'bc'],
  ['((a|b)*c|(a|b)*d)e', 'ab'],
  ['(a|b)*a(a|b){10}x', 'ab'],
  ['(?i)(A|a)+B$', 'aA'],
  ['(?s)(.+)+\\z!', 'a\n'],
  ['(?m)^(\\S+\\s*)+;$', 'a '],
  ['(ab*)*c$', 'ab'],
  ['((ab)*)*c$', 'ab'],
  ['(a*b*)*c$', 'ab'],
  ['(a+b+)+c$', 'ab'],
  ['(a{1,5}){1,5}b', 'a'],
  ['(.{1,10}){1,10}!x', 'a'],
  ['(\\p{L}+)*\\d$', 'é'],
  ['([\\s\\S]+)*\\x00$', 'a'],
  ['(,|,\\s|\\s,)+;', ', '],
  ['(\\.+/?)+x', './'],
  ['^((([^<>()[\\],;:@ ]+)(\\.[^<>()]+)*)+)@$', 'a.'],
  ['(=+|-+|_+)*#', '=-_'],
  ['((\\w|-)+\\.)+[a-z]{2,}\\z:', 'a-.'],
]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-patterns-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('patterns that ruin other engines', () => {
  it('are fifty and more', () => expect(new Set(evil.map(([pattern]) => pattern)).size).toBeGreaterThanOrEqual(50))

  it.each(evil)('end or are refused: %s', async (pattern, repeated, end = '!') => {
    const text = repeated.repeat(100_000 / repeated.length) + end
    writeFileSync(join(folder, 'text.txt'), text)
    const runner = createCheckRunner({ projectRoot: folder, timeoutMs: 60_000, maxOutputBytes: 1_000 })
    const context = { folder, output: text, changed: [], baseFile: async () => undefined, keep: async () => 'sha256:0' as const }
    const signal = new AbortController().signal
    const reports = [
      await runner.run('c1', { kind: 'text', regex: pattern }, context, signal),
      await runner.run('c2', { kind: 'text', path: 'text.txt', regex: pattern }, context, signal),
      await runner.run('c3', { kind: 'file', path: 'text.txt', matches: pattern }, context, signal),
    ]
    // Found, not found, or refused before it began; never cut off by the clock.
    const [first] = reports
    for (const { outcome, summary } of reports) {
      expect(outcome).toBe(first?.outcome)
      expect(summary).toMatch(/as required|does not match|takes up to \d+ steps/)
    }
  })
})
