import type { RawAnswer } from './raw-answer.ts'

/**
 * The finish reason as the reader of verdicts may believe it. A normal ending keeps the provider's own word, which the reader knows; anything else
 * must not look normal, whatever the provider called it: a refusal ends with `stop`, and a word that nobody knows may mean anything.
 */
export function believableFinish(unified: string, raw: RawAnswer | undefined): string {
  if (raw?.refused) return 'refusal'
  if (unified === 'stop' || unified === 'tool-calls') return raw?.finish ?? 'unknown'
  return unified === 'other' ? `unknown: ${raw?.finish ?? 'none given'}` : unified
}
