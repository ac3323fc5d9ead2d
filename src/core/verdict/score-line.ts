import type { TextVerdict } from '../../contract/verdict.ts'
import { foldLookAlikes } from '../routing/look-alike.ts'
import { isEnclosed, type ReplyLine, replyLines } from './quoting.ts'

export type ScoreLine = { ok: true; text: TextVerdict } | { ok: false; reason: string }

/** `SCORE: 72` alone on its line; a heading's marks before it, emphasis or code marks around label or number. ASCII only. */
const scoreLine = /^ {0,3}(?:#{1,6} )?[*_`]{0,3}SCORE[*_`]{0,3}:[*_`]{0,3} {0,3}[*_`]{0,3}(\d{1,3}(?:\.\d{1,2})?)[*_`]{0,3} {0,3}$/i

/** A number from 0 to 100 without leading zeros. */
const inRange = /^(?:(?:0|[1-9]\d?)(?:\.\d{1,2})?|100(?:\.0{1,2})?)$/

const rule = 'a text reply needs exactly one line `SCORE: n` with n from 0 to 100, on a line of its own, outside quotes and fences'

/**
 * Reads a text judge's score. The line counts only if it is the only one in the reply's own words: worker text repeated in a reply may bring
 * a score line along, and then nobody can tell whose it is.
 */
export function readScoreLine(reply: string): ScoreLine {
  const sorted = replyLines(reply)
  if (!sorted.ok) return unreadable(sorted.reason)
  const own = sorted.lines.map((line, index) => ({ ...line, index })).filter(({ quoted, text }) => !quoted && isScoreLike(text))
  const [first, second] = own
  if (first === undefined) return unreadable('there is none')
  if (second !== undefined) return unreadable(`lines ${first.index + 1} and ${second.index + 1} both speak of a score`)
  const score = scoreLine.exec(first.text)?.[1] ?? ''
  if (!inRange.test(score)) return unreadable(`line ${first.index + 1} is not such a line`)
  if (isEnclosed(ownText(sorted.lines.slice(0, first.index)), ownText(sorted.lines.slice(first.index + 1)))) {
    return unreadable(`line ${first.index + 1} stands inside a quotation`)
  }
  return { ok: true, text: { score100: score, feedback: textOf(sorted.lines.toSpliced(first.index, 1)).trim() } }
}

function unreadable(why: string): ScoreLine {
  return { ok: false, reason: `${rule}; ${why}` }
}

function ownText(lines: readonly ReplyLine[]): string {
  return textOf(lines.filter(({ quoted }) => !quoted))
}

function textOf(lines: readonly ReplyLine[]): string {
  return lines.map(({ text }) => text).join('\n')
}

/** A label with a colon at the start of a folded line, after at most three words: `final score: high`. */
const labelAtStart = /^[^\p{L}\p{N}]*(?:\p{L}+[^\p{L}\p{N}:=]{1,4}){0,3}scores?[^\p{L}\p{N}:=]{0,8}[:=]/u

/** A score and its number, anywhere in a folded line: `score: 72`, `scored 72`, `a score of **72**`. */
const scoreAndNumber = /(?<![\p{L}\p{N}])score[sd]?[^\p{L}\p{N}]{1,8}(?:(?:is|of|was|at)[^\p{L}\p{N}]{1,8})?\p{N}/u

/**
 * Whether a line could be meant, or be taken, as a score.
 * Wider than what is read, so that a sloppy real score beside a well-formed repeated one makes the reply unreadable instead of forged.
 */
function isScoreLike(line: string): boolean {
  const text = foldLookAlikes(withoutMentions(line))
  return labelAtStart.test(text) || scoreAndNumber.test(text)
}

/** A line without the scores that it only cites, in quotation or code marks; a line that is all citation stays whole. */
function withoutMentions(line: string): string {
  const rest = line.replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, (cited) => (foldLookAlikes(cited).includes('score') ? ' ' : cited))
  return /[\p{L}\p{N}]/u.test(rest) ? rest : line
}
