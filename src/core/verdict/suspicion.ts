import { foldLookAlikes } from '../routing/look-alike.ts'
import { excerpt } from './excerpt.ts'
import { hiddenCharacters, wordings } from './suspicious-text.ts'

/** Most findings reported; a text that brings more is suspicious enough. */
const maxFindings = 50

/**
 * What in worker-controlled text a panel should be warned about: words meant for the reviewer, look-alikes of verdicts and fences,
 * characters that hide. Each finding says where to look and repeats none of the text, so that a finding cannot carry the attack on.
 * One per place and kind, in the order given; the same texts always give the same findings, in time linear in their length.
 */
export function suspicions(texts: readonly { where: string; text: string }[], nonce?: string): string[] {
  const findings = new Set<string>()
  for (const { where, text } of texts) {
    for (const { finding, line } of findingsIn(text, nonce)) findings.add(`${placeName(where)}, line ${line}: ${finding}`)
  }
  const all = [...findings]
  return all.length <= maxFindings ? all : [...all.slice(0, maxFindings), `${all.length - maxFindings} more findings`]
}

function findingsIn(text: string, nonce: string | undefined): { finding: string; line: number }[] {
  const folded = foldLookAlikes(text)
  const first = new Map<string, number>()
  const note = (finding: string, within: string, index: number) => {
    if (index >= 0) first.set(finding, Math.min(first.get(finding) ?? Number.POSITIVE_INFINITY, lineOf(within, index)))
  }
  if (nonce !== undefined && nonce !== '') note("contains the review's nonce", text, text.indexOf(nonce))
  for (const { finding, patterns } of wordings) for (const pattern of patterns) note(finding, folded, folded.search(pattern))
  for (const { finding, patterns } of hiddenCharacters) for (const pattern of patterns) note(finding, text, text.search(pattern))
  return Array.from(first, ([finding, line]) => ({ finding, line }))
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

/** File names are the worker's too: one that is not plain is shown escaped. */
function placeName(where: string): string {
  return /^[\w ./:-]{1,100}$/.test(where) ? where : excerpt(where, 100)
}
