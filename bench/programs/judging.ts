/** Worker's processes and judges' calls without Assay: `judging <folder> <judging as JSON>`. Prints milliseconds, and those of the processor. */
import { timedWithCpu } from '../measure.ts'
import { concurrency, panelSize, printingWorker } from './project.ts'
import { inLanes, spawned } from './spawning.ts'

export interface Judging {
  tasks: number
  sandbox: boolean
  via: 'sdk' | 'http'
  baseURL: string
  /** Body of a request as Assay sends it: the calls made here say the same. */
  request: string
}

interface Asked {
  model: string
  max_tokens: number
  messages: [system: { content: string }, user: { content: string }]
  tools: { function: { name: string; description: string; parameters: object } }[]
  tool_choice: { function: { name: string } }
}

/** The packages are loaded within the time that is taken, as Assay does. */
async function openSdk({ baseURL, request }: Judging): Promise<() => Promise<void>> {
  globalThis.AI_SDK_LOG_WARNINGS = false
  const { generateText, jsonSchema } = await import('ai')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const asked = JSON.parse(request) as Asked
  const model = createOpenAICompatible({ name: 'compatible', baseURL })(asked.model)
  return async () => {
    const tools = asked.tools.map(({ function: { name, description, parameters } }) => {
      return [name, { description, inputSchema: jsonSchema(parameters) }] as const
    })
    const { toolCalls } = await generateText({
      model,
      instructions: asked.messages[0].content,
      messages: [{ role: 'user', content: asked.messages[1].content }],
      tools: Object.fromEntries(tools),
      toolChoice: { type: 'tool', toolName: asked.tool_choice.function.name },
      maxOutputTokens: asked.max_tokens,
      maxRetries: 0,
    })
    if (toolCalls.length !== 1) throw new Error('no verdict')
  }
}

function openHttp({ baseURL, request }: Judging): () => Promise<void> {
  return async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body: request })
    const { choices } = (await response.json()) as { choices: unknown[] }
    if (choices.length !== 1) throw new Error('no verdict')
  }
}

const [folder = '', text = ''] = process.argv.slice(2)
const judging = JSON.parse(text) as Judging
const cost = await timedWithCpu(async () => {
  const ask = judging.via === 'sdk' ? await openSdk(judging) : openHttp(judging)
  await inLanes(judging.tasks, concurrency, async () => {
    await spawned(printingWorker, { cwd: folder, sandbox: judging.sandbox })
    await Promise.all(Array.from({ length: panelSize }, ask))
  })
})
console.log(JSON.stringify(cost))
