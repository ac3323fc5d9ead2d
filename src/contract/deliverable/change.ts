/** A change as it was reviewed: what its two ends were called, where, and which commits they were then. */
export interface ReviewedChange {
  folder: string
  range: string
  base: string
  head: string
}

/** The source of a deliverable that is a change. Paths are absolute, and addresses begin otherwise: neither is taken for it. */
export function changeSource({ folder, range, base, head }: ReviewedChange): string {
  return `diff:${encodeURI(range.toWellFormed())}=${base}..${head} in ${folder}`
}

/** Undefined where the source is no change. */
export function readChange(source: string): ReviewedChange | undefined {
  const [, range, base, head, folder] = /^diff:(\S*)=([0-9a-f]{40,64})\.\.([0-9a-f]{40,64}) in (.+)$/s.exec(source) ?? []
  if (range === undefined || base === undefined || head === undefined || folder === undefined) return undefined
  return { folder, range: decodeURI(range), base, head }
}

/** Its two commits; undefined where the source is no change. */
export function commitsIn(source: string | undefined): string | undefined {
  const change = source === undefined ? undefined : readChange(source)
  return change && `${change.base}..${change.head}`
}

/** A source for people: a change by its name and its commits. */
export function sourceWords(source: string): string {
  const change = readChange(source)
  return change ? `${change.range} (${change.base}..${change.head}) in ${change.folder}` : source
}
