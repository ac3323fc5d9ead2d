import { unfilled } from '../../../contract/case.ts'
import { documentEnd } from './document-end.ts'

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

/** How often the length of a case may be read in search of ends: what has no end must not be looked for without one. */
const mostReads = 64

/**
 * The last JSON object with a `summary`, wherever it stands: in a fence, bare, or in the middle of a sentence. What is inside another JSON document is part of
 * that one. An object that has a `summary` and cannot be read counts too: its author meant a case and hears what is wrong with it.
 */
export function findPrintedCase(output: string, maxLength: number): PrintedCase | undefined {
  const fences = fencesIn(output)
  const last = objectsIn(output, maxLength, fences).at(-1)
  if (last === undefined) return undefined
  const { start, end, text } = withFence(output, last, fences)
  const after = output.slice(end)
  return { raw: text, rest: output.slice(0, start) + (after.trim() === '' ? '' : after) }
}

interface Fence {
  start: number
  end: number
  inner: number
  innerEnd: number
  json: boolean
}

/** Objects with a `summary`, in the order in which they begin. What a fence marks as another language is a quotation of that. */
function objectsIn(output: string, maxLength: number, fences: readonly Fence[]): Block[] {
  const quoted = fences.filter(({ json }) => !json)
  const found: Block[] = []
  let left = mostReads * maxLength
  const opening = /[{[](?=\s*[{["'])/g
  for (let match = opening.exec(output); match; match = opening.exec(output)) {
    const start = match.index
    const around = quoted.find((fence) => fence.start <= start && start < fence.end)
    if (around) {
      opening.lastIndex = around.end
      continue
    }
    const limit = Math.min(output.length, start + maxLength + 1)
    const { end, hasSummary } = left > 0 ? documentEnd(output, start, limit) : { end: undefined, hasSummary: beginsCase(output, start) }
    const value = end === undefined ? undefined : jsonIn(output.slice(start, end))
    const whole = end !== undefined && value !== undefined
    left -= whole ? 0 : (end ?? limit) - start
    if (hasSummary && !isShape(value)) found.push({ start, end: end ?? output.length, text: output.slice(start, end ?? limit).trimEnd() })
    if (whole) opening.lastIndex = end
  }
  return found
}

function beginsCase(output: string, start: number): boolean {
  return /^\{\s*["']summary["']\s*:/.test(output.slice(start, start + 200))
}

/** Blocks between lines of three or more backticks or tildes; `json` are those that are marked so, or not at all. */
function fencesIn(output: string): Fence[] {
  const fences: Fence[] = []
  let open: { fence: string; start: number; inner: number; json: boolean } | undefined
  let at = 0
  for (const line of output.split('\n')) {
    const next = at + line.length + 1
    const [, fence, info = ''] = /^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/.exec(line.slice(0, 200)) ?? []
    if (open === undefined && fence !== undefined) {
      open = { fence, start: at, inner: next, json: info === '' || info.toLowerCase().startsWith('json') }
    } else if (open !== undefined && fence?.startsWith(open.fence) && info === '') {
      fences.push({ start: open.start, end: Math.min(next, output.length), inner: open.inner, innerEnd: at, json: open.json })
      open = undefined
    }
    at = next
  }
  return fences
}

/** A fence that holds nothing but the object goes with it; an object that has no end ends with its fence. */
function withFence(output: string, block: Block, fences: readonly Fence[]): Block {
  const around = fences.find(({ inner, innerEnd }) => inner <= block.start && block.start < innerEnd)
  if (!around) return block
  const end = Math.min(block.end, around.innerEnd)
  const alone = output.slice(around.inner, block.start).trim() === '' && output.slice(end, around.innerEnd).trim() === ''
  const text = output.slice(block.start, Math.min(end, block.start + block.text.length)).trimEnd()
  return alone ? { start: around.start, end: around.end, text } : { start: block.start, end, text }
}

/** The shape of a case as prompts show it: a program that prints what it is told means nothing by it. */
function isShape(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'summary' in value && value.summary === unfilled
}

/** Undefined where it is no JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
