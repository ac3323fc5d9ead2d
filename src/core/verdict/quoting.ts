/** One line of a text reply and whether the writer speaks there or repeats somebody. */
export interface ReplyLine {
  text: string
  /** In a fence, or a quotation line: somebody else's words. */
  quoted: boolean
}

export type ReplyLines = { ok: true; lines: ReplyLine[] } | { ok: false; reason: string }

/** Sorts a reply's lines into the writer's own and repeated ones. A fence that never closes leaves open which is which. */
export function replyLines(reply: string): ReplyLines {
  const lines: ReplyLine[] = []
  let fence: string | undefined
  for (const text of reply.split(/\r\n|\n|\r/)) {
    const marks = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(text)
    if (fence !== undefined) {
      if (marks !== null && closes(marks, fence)) fence = undefined
      lines.push({ text, quoted: true })
    } else if (marks !== null && !(marks[1]?.startsWith('`') && marks[2]?.includes('`'))) {
      fence = marks[1]
      lines.push({ text, quoted: true })
    } else lines.push({ text, quoted: isQuotation(text) })
  }
  return fence === undefined ? { ok: true, lines } : { ok: false, reason: 'a code fence is never closed' }
}

/** A fence is closed by at least as many of the same mark, and nothing else on the line. */
function closes(marks: RegExpExecArray, fence: string): boolean {
  const [, mark = '', rest = ''] = marks
  return mark[0] === fence[0] && mark.length >= fence.length && rest.trim() === ''
}

/** A Markdown quotation, or a line that stands in quotation marks as a whole. */
function isQuotation(line: string): boolean {
  return /^[ \t]*>/.test(line) || /^\s*["“”„«‹'‘’].*["“”»›'‘’][.,;]?\s*$/u.test(line)
}

/**
 * Whether a place in the writer's own lines is enclosed by something opened before and closed after it:
 * quotation marks, an HTML comment, or an element such as `<work>…</work>`.
 */
export function isEnclosed(before: string, after: string): boolean {
  return inQuotationMarks(before, after) || (isOpen(before, '<!--', '-->') && after.includes('-->')) || inElement(before, after)
}

function inQuotationMarks(before: string, after: string): boolean {
  const straight = count(before, '"') % 2 === 1 && after.includes('"')
  const typographic = count(before, '“') > count(before, '”') && after.includes('”')
  return straight || typographic
}

function isOpen(text: string, opening: string, closing: string): boolean {
  return text.lastIndexOf(opening) > text.lastIndexOf(closing)
}

function inElement(before: string, after: string): boolean {
  const open = new Map<string, number>()
  for (const { name, closing } of tags(before)) open.set(name, Math.max(0, (open.get(name) ?? 0) + (closing ? -1 : 1)))
  return tags(after).some(({ name, closing }) => closing && (open.get(name) ?? 0) > 0)
}

function tags(text: string): { name: string; closing: boolean }[] {
  return Array.from(text.matchAll(/<(\/?)([A-Za-z][\w:-]{0,60})[^<>]{0,300}>/g), ([, slash, name = '']) => ({
    name: name.toLowerCase(),
    closing: slash === '/',
  }))
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1
}
