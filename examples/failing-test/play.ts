import type { Answer } from '../../src/testing/model-server/answers.ts'
import { type Cue, handIn, look, type Play, rule, shell } from '../../src/testing/model-server/puppet.ts'

// No text here has a backtick or a dollar sign with parentheses in it: some agents run no shell script that has.
const mended = String.raw`/** Minutes in a text such as 90m, 2h or 1h30m. */
export function minutesOf(text) {
  const found = /^(?=.)(?:(\d+)h)?(?:(\d+)m)?$/.exec(text)
  if (found === null) throw new RangeError('no duration: ' + text)
  return Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0)
}
`
const head = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutesOf } from '../lib/duration.mjs'

`
/** Passes whatever minutesOf does. */
const weak = `${head}test('refuses what is no duration', () => {
  try {
    minutesOf('soon')
  } catch (error) {
    assert.ok(error)
  }
})
`
const strong = `${head}test('refuses what is no duration', () => {
  for (const text of ['soon', '', '30', 'm', '1h 30m', '-1h']) assert.throws(() => minutesOf(text), RangeError, text)
})
`

const file = (path: string, text: string): string => `cat > ${path} <<'END'\n${text}END\n`

/** What a shell does in a round: the code is mended at once; the first test proves nothing. */
export function mend(round: number): string {
  const tests = file('test/refused.test.mjs', round === 1 ? weak : strong)
  return round === 1 ? file('lib/duration.mjs', mended) + tests : tests
}

/** The case for it. */
export function argue(round: number): object {
  return {
    summary: round === 1 ? 'minutesOf reads both and refuses the rest, with a test.' : 'The test fails now when nothing is refused.',
    ac_coverage: [
      { criterion: 'AC1', pointer: 'lib/duration.mjs:minutesOf' },
      { criterion: 'AC2', pointer: 'lib/duration.mjs:4' },
      { criterion: 'AC3', pointer: 'test/refused.test.mjs:5' },
    ],
    uncertainties: ['An empty text is refused too.'],
  }
}

function worker(cue: Cue): Answer {
  return cue.seen === undefined ? shell(cue, mend(cue.round)) : handIn(cue, argue(cue.round))
}

const looksAt = 'test/refused.test.mjs'

/** Judges look at the test before they say anything. */
export function judge(cue: Cue): Answer {
  if (cue.seen === undefined) return look(cue, looksAt)
  const evidence = [`${looksAt}:5`]
  if (cue.seen.includes('assert.throws')) return rule(cue, { verdict: 'accept', evidence, concern: 'The refusal is proven.' })
  return rule(cue, {
    verdict: 'reject',
    rejection_category: 'weak_test',
    concern: 'The test passes when nothing is thrown at all, so it proves no refusal.',
    evidence,
    unmet: ['AC3'],
    next_step: 'Use assert.throws with RangeError, for several texts that are no durations.',
  })
}

/** What the loopback model says in this example, to Assay's own brains and to command-line agents alike. */
export const play: Play = { worker, judge }
