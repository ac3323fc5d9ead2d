import type { Json } from '../../../src/contract/canonical.ts'
import type { Dimension } from '../../../src/contract/score.ts'
import type { Verdict } from '../../../src/contract/verdict.ts'
import type { Expectations } from '../../../src/core/verdict/read.ts'
import { parseStrictJson } from '../../../src/core/verdict/strict-json.ts'

/**
 * How a recorded JSON format says what Assay's verdict says in its dimensions. The document is read by the strict parser and written again
 * as a verdict between whatever stood before and after it; a document that the parser refuses stays as it is. The reader decides on the rest.
 */
export interface DocumentTable {
  dimensions: readonly string[]
  /** The format's own scores as levels of the dimensions. */
  levels(document: Record<string, Json>): Record<string, Json>
  /** What was read, in the format's own words. */
  meaning(levels: Record<string, number>): string
}

/** In the recorded formats nobody was given a nonce: every reply gets the right one. */
const nonce = 'nonce-off'

const aspects = ['Guidance', 'Informativeness', 'Relevance', 'Safety', 'Empathy', 'Helpfulness', 'Understanding', 'Overall']

/** Overall is the judge's own mean and may have decimals; Assay computes it itself, so that its whole level is as much as is carried over. */
function wholeLevel(value: Json): Json {
  return typeof value === 'number' && value >= 1 && value <= 5 ? Math.floor(value) : value
}

export const documentTables: Readonly<Record<string, DocumentTable>> = {
  'json-7dims-1-5': {
    dimensions: aspects,
    levels: ({ Explanation: _, Overall: overall, ...scores }) => ({
      ...scores,
      ...(overall !== undefined && { Overall: wholeLevel(overall) }),
    }),
    meaning: (levels) => JSON.stringify(aspects.map((name) => levels[name])),
  },
  /** One score from 1 to 10, written as text, becomes two levels: its pair (1–5) and its place in the pair (1–2). */
  'json-strengths-weaknesses-score-1-10': {
    dimensions: ['pair', 'place'],
    levels: ({ score }) => {
      const value = typeof score === 'string' && /^\d{1,2}$/.test(score) ? Number(score) : Number.NaN
      const pair = Math.ceil(value / 2)
      return Number.isNaN(value) ? { score: score ?? null } : { pair, place: value - 2 * (pair - 1) }
    },
    meaning: ({ pair = 0, place = 0 }) => String(2 * (pair - 1) + place),
  },
}

export function expectationsOf(table: DocumentTable): Expectations {
  const dimensions = table.dimensions.map((name): Dimension => ({ name, weight: 1, description: name }))
  return { nonce, criteria: [], dimensions, points: [], form: 'structured' }
}

export function translateDocument(text: string, table: DocumentTable): string {
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}') + 1]
  const document = parseStrictJson(start < 0 ? '' : text.slice(start, end))
  if (!document.ok || typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) return text
  const levels = table.levels(document.value)
  const verdict = {
    nonce,
    prior: [],
    criteria: [],
    dimensions: Object.entries(levels).map(([name, score]) => ({ name, reasoning: '', score })),
    verdict: 'accept',
    rejection_category: null,
    concern: 'recorded',
    evidence: [],
    next_step: null,
  } satisfies Record<keyof Verdict, unknown>
  return `${text.slice(0, start)}${JSON.stringify(verdict)}${text.slice(end)}`
}
