import type { Provider } from '../reply/raw-answer.ts'

export const verdictTool = 'submit_verdict'

type Schema = Record<string, unknown>

/** Most values to choose from in a schema that OpenAI takes as strict. */
const mostStrictChoices = 500

/** The schema of a verdict as the provider takes it, and whether it is to hold the model to it. */
export function verdictToolFor(provider: Provider, schema: Schema): { schema: Schema; strict?: true } {
  // Google's schemas have no `const`; a choice of one is the same.
  if (provider === 'google') return { schema: constAsEnum(schema) as Schema }
  // Anthropic's strict mode takes no bounds on lists and numbers, and servers of one's own may refuse a word that they do not know.
  return provider === 'openai' && choicesIn(schema) <= mostStrictChoices ? { schema, strict: true } : { schema }
}

function constAsEnum(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(constAsEnum)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === 'const' && typeof value === 'string' ? ['enum', [value]] : [key, constAsEnum(value)],
    ),
  )
}

function choicesIn(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 0
  const own = 'enum' in node && Array.isArray(node.enum) ? node.enum.length : 0
  return Object.values(node).reduce((sum: number, value) => sum + choicesIn(value), own)
}
