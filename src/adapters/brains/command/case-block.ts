/** A case found in what a worker printed, and what it printed besides. */
export interface PrintedCase {
  raw: string
  rest: string
}

interface Block {
  /** Of the whole block, fences included. */
  start: number
  end: number
  text: string
}

/** Objects that may begin at one of this many lines, counted from the end, are tried. */
const mostStarts = 500

/**
 * The last JSON block with a `summary`: in a fence of its own, or bare at the end of the output. Blocks before it are output like any other.
 * One that was meant as a case and is not valid JSON counts too, so that its author hears of it.
 */
export function findPrintedCase(output: string, maxLength: number): PrintedCase | undefined {
  const blocks = [...fencedBlocks(output), ...bareBlock(output, maxLength)].filter((block) => isCase(block.text))
  const last = blocks.sort((a, b) => a.end - b.end).at(-1)
  return last === undefined ? undefined : { raw: last.text, rest: output.slice(0, last.start) + output.slice(last.end) }
}

/** Blocks between lines of three or more backticks or tildes, marked as JSON or not at all. */
function fencedBlocks(output: string): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; start: number; inner: number; json: boolean } | undefined
  let at = 0
  for (const line of output.split('\n')) {
    const next = at + line.length + 1
    const [, fence, info] = /^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/.exec(line.slice(0, 200)) ?? []
    if (open === undefined && fence !== undefined) {
      open = { fence, start: at, inner: next, json: info === '' || info?.toLowerCase() === 'json' }
    } else if (open !== undefined && fence?.startsWith(open.fence) && info === '') {
      if (open.json) blocks.push({ start: open.start, end: Math.min(next, output.length), text: output.slice(open.inner, at).trim() })
      open = undefined
    }
    at = next
  }
  return blocks
}

/** The object that begins at the start of a line and ends with the output. */
function bareBlock(output: string, maxLength: number): Block[] {
  const text = output.trimEnd()
  if (!text.endsWith('}')) return []
  let outermost: Block | undefined
  let tries = 0
  for (
    let at = text.lastIndexOf('{');
    at >= 0 && text.length - at <= maxLength && tries < mostStarts;
    at = at === 0 ? -1 : text.lastIndexOf('{', at - 1)
  ) {
    const indent = text.slice(text.lastIndexOf('\n', at) + 1, at)
    if (indent.trim() !== '') continue
    tries += 1
    const block = { start: at, end: output.length, text: text.slice(at) }
    if (parsed(block.text) !== undefined) return [block]
    if (indent === '') outermost ??= block
  }
  return outermost === undefined ? [] : [outermost]
}

function isCase(text: string): boolean {
  const value = parsed(text)
  if (value === undefined) return text.startsWith('{') && /"summary"\s*:/.test(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, 'summary')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
