import { foldLookAlikes } from '../routing/look-alike.ts'
import { excerpt } from './excerpt.ts'
import { hiddenCharacters, wordings } from './suspicious-text.ts'

/** Most findings reported; a text that brings more is suspicious enough. */
const maxFindings = 50

/** Characters of what was looked at before that are looked at again with the next piece: no sign is longer, once what is invisible is dropped. */
const overlap = 2_000

/**
 * What in worker-controlled text a panel should be warned about: words meant for the reviewer, look-alikes of verdicts and fences,
 * characters that hide. Each finding says where to look and repeats none of the text, so that a finding cannot carry the attack on.
 * One per place and kind, in the order given; the same texts always give the same findings, in time linear in their length.
 */
export function suspicions(texts: readonly { where: string; text: string }[], nonce?: string): string[] {
  return mostFindings(
    texts.flatMap(({ where, text }) => {
      const scan = textScan(where, nonce === undefined ? {} : { nonce })
      scan.feed(text)
      return scan.findings()
    }),
  )
}

/** No more findings than anybody reads, each once; what is left out is counted. */
export function mostFindings(findings: readonly string[]): string[] {
  const all = [...new Set(findings)]
  return all.length <= maxFindings ? all : [...all.slice(0, maxFindings), `${all.length - maxFindings} more findings`]
}

/** A thing that could not be looked through as a finding: somebody may have hidden text there. */
export function unlooked(where: string, why: string): string {
  return `${placeName(where)}: was not looked through, ${why}`
}

export interface TextScan {
  /** The text goes on. */
  feed(piece: string): void
  findings(): string[]
}

/**
 * Looks through one text piece by piece, in memory that does not grow with it. In a file that is no text (`binary`) only words are looked for, whatever
 * NUL bytes stand between their letters: bytes that happen to hide are everyday there.
 */
export function textScan(where: string, { nonce = '', binary = false }: { nonce?: string; binary?: boolean } = {}): TextScan {
  const first = new Map<string, number>()
  const folded = new Window('x')
  const plain = new Window('')
  return {
    feed(piece) {
      const text = binary ? piece.replaceAll('\0', '') : piece
      const known = new Set(first.keys())
      const note = (finding: string, window: Window, index: number) => {
        if (index >= 0 && !known.has(finding))
          first.set(finding, Math.min(first.get(finding) ?? Number.POSITIVE_INFINITY, window.lineOf(index)))
      }
      folded.add(foldLookAlikes(text))
      plain.add(text)
      if (nonce !== '') note("contains the review's nonce", plain, plain.text.indexOf(nonce))
      for (const { finding, patterns } of wordings)
        if (!known.has(finding)) for (const pattern of patterns) note(finding, folded, folded.text.search(pattern))
      if (binary) return
      for (const { finding, patterns } of hiddenCharacters)
        if (!known.has(finding)) for (const pattern of patterns) note(finding, plain, plain.text.search(pattern))
    },
    findings: () => Array.from(first, ([finding, line]) => `${placeName(where)}, line ${line}: ${finding}`),
  }
}

/** The piece of a text that is looked at, with the end of what came before it. */
class Window {
  readonly #before: string
  text = ''
  #lines = 0

  /** `before` stands for what was before the end of the last piece, so that no line seems to begin there. */
  constructor(before: string) {
    this.#before = before
  }

  add(piece: string): void {
    const from = this.text.length <= overlap ? 0 : plainFrom(this.text, this.text.length - overlap)
    const kept = from === 0 ? this.text : `${this.#before}${this.text.slice(from)}`
    this.#lines += breaksIn(this.text.slice(0, from))
    this.text = kept + piece
  }

  lineOf(index: number): number {
    return this.#lines + breaksIn(this.text.slice(0, index)) + 1
  }
}

/** The next place at which a printable ASCII character stands: what is before such a one makes no difference to what is hidden after it. */
function plainFrom(text: string, from: number): number {
  const ahead = text.slice(from).search(/[ -~]/)
  return ahead < 0 ? from : from + ahead
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1
}

/** File names are the worker's too: one that is not plain is shown escaped. */
function placeName(where: string): string {
  return /^[\w ./:-]{1,100}$/.test(where) ? where : excerpt(where, 100)
}
