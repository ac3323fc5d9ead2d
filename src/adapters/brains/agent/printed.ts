import { z } from 'zod'
import { readCleanJson } from '../../../contract/source/read-json.ts'
import type { Usage } from '../../../contract/verdict.ts'

/** A count that other programs print: anything else counts as nothing. */
export const count = z.number().int().nonnegative().catch(0)
/** Money is not nothing because nobody can read it. */
export const money = z.number().nonnegative().optional().catch(undefined)

/** A JSON text, or undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Objects of JSON Lines. Lines that are none (warnings, or what a cut went through) are passed by. */
export function jsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    const value = line.startsWith('{') ? parsed(line) : undefined
    return value === undefined ? [] : [value]
  })
}

/** Whether an object says the same thing twice: then nobody can tell which one is meant. */
export function repeatsKey(text: string): boolean {
  return text.split('\n').some((line) => line.startsWith('{') && parsed(line) !== undefined && readCleanJson(line) === undefined)
}

/** The text of the last JSON object that stands at the beginning of a line and goes to the end of the text. */
export function lastObject(text: string): string | undefined {
  const end = text.trimEnd()
  for (let at = end.lastIndexOf('\n{'), tries = 0; tries < 100; tries += 1) {
    const found = end.slice(at + 1)
    if (parsed(found) !== undefined) return found
    if (at < 0) return undefined
    at = at === 0 ? -1 : end.lastIndexOf('\n{', at - 1)
  }
  return undefined
}

/** What several parts of a run used together. */
export function total(parts: readonly { input: number; output: number; cost?: number | undefined }[]): Usage {
  const sum = (pick: (part: (typeof parts)[number]) => number) => parts.reduce((all, part) => all + pick(part), 0)
  const priced = parts.some(({ cost }) => cost !== undefined)
  return {
    inputTokens: sum(({ input }) => input),
    outputTokens: sum(({ output }) => output),
    ...(priced && { costUsd: sum(({ cost }) => cost ?? 0) }),
  }
}
