import type { Provider } from '../reply/raw-answer.ts'
import { offered, type Tool } from '../speech.ts'
import { readingTools } from './explorer.ts'
import { verdictTool, verdictToolFor } from './verdict-tool.ts'

/** The tools of a judge: calls are answered, and verdicts read, from what was sent. */
export function toolSet(provider: Provider, verdictSchema: Record<string, unknown>, reading: boolean): Tool[] {
  const { schema, strict } = verdictToolFor(provider, verdictSchema)
  const verdict = offered(verdictTool, 'Gives your verdict and ends the review. Call it exactly once.', schema)
  const readers = reading ? Object.entries(readingTools).map(([name, tool]) => offered(name, tool.description, tool.schema)) : []
  return [...readers, strict ? { ...verdict, strict } : verdict]
}
