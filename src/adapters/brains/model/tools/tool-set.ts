import type { ToolSet } from 'ai'
import type { Provider } from '../reply/raw-answer.ts'
import type { Sdk } from '../sdk.ts'
import { readingTools } from './explorer.ts'
import { verdictTool, verdictToolFor } from './verdict-tool.ts'

type Tool = ToolSet[string]

/** The tools of a judge. None of them runs by itself and no input is checked by the SDK: calls are answered, and verdicts read, from what was sent. */
export function toolSet(sdk: Sdk, provider: Provider, verdictSchema: Record<string, unknown>, reading: boolean): ToolSet {
  const plain = (description: string, schema: Record<string, unknown>): Tool => ({ description, inputSchema: sdk.jsonSchema(schema) })
  const { schema, strict } = verdictToolFor(provider, verdictSchema)
  const verdict = plain('Gives your verdict and ends the review. Call it exactly once.', schema)
  const readers = reading ? Object.entries(readingTools).map(([name, tool]) => [name, plain(tool.description, tool.schema)]) : []
  return { ...Object.fromEntries(readers), [verdictTool]: strict ? { ...verdict, strict } : verdict }
}
