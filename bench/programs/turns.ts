/** The calls of model workers without Assay: `turns <folder> <turns as JSON>`. Prints milliseconds, and those of the processor. */
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelMessage } from 'ai'
import { timedWithCpu } from '../measure.ts'
import { concurrency } from './project.ts'
import { inLanes } from './spawning.ts'

export interface Turns {
  tasks: number
  /** `tools`: the SDK, and what the model asks for is done, as a script of one's own would do it. */
  via: 'sdk' | 'http' | 'tools'
  baseURL: string
  /** File with the bodies of one task's requests as Assay sends them, a JSON list: the calls made here say the same. Too long for an argument. */
  bodies: string
}

interface Asked {
  model: string
  max_tokens: number
  messages: Said[]
  tools: { function: { name: string; description: string; parameters: object } }[]
}
type Said =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }
  | { role: 'tool'; tool_call_id: string; content: string }

function messageOf(said: Said): ModelMessage {
  if (said.role === 'assistant') {
    const calls = (said.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => {
      return { type: 'tool-call' as const, toolCallId: id, toolName: name, input: JSON.parse(args) as unknown }
    })
    return { role: 'assistant', content: calls.length > 0 ? calls : (said.content ?? '') }
  }
  if (said.role !== 'tool') return { role: 'user', content: said.content }
  const output = { type: 'text' as const, value: said.content }
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId: said.tool_call_id, toolName: 'any', output }] }
}

/** The packages are loaded within the time that is taken, as Assay does. */
async function openSdk({ baseURL, via }: Turns, bodies: readonly string[]): Promise<(turn: number, workspace: string) => Promise<void>> {
  globalThis.AI_SDK_LOG_WARNINGS = false
  const { generateText, jsonSchema } = await import('ai')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const asked = bodies.map((body) => JSON.parse(body) as Asked)
  const model = createOpenAICompatible({ name: 'compatible', baseURL })(asked[0]?.model ?? '')
  return async (turn, workspace) => {
    const { messages, tools, max_tokens } = asked[turn] as Asked
    const [system, ...said] = messages
    const named = tools.map(({ function: { name, description, parameters } }) => {
      return [name, { description, inputSchema: jsonSchema(parameters) }] as const
    })
    const { toolCalls } = await generateText({
      model,
      instructions: system?.content ?? '',
      messages: said.map(messageOf),
      tools: Object.fromEntries(named),
      toolChoice: 'auto',
      maxOutputTokens: max_tokens,
      maxRetries: 0,
    })
    if (toolCalls.length !== 1) throw new Error('no call')
    if (via === 'tools') for (const { toolName, input } of toolCalls) await useTool(workspace, toolName, input as ToolInput)
  }
}

interface ToolInput {
  path?: string
  content?: string
  old?: string
  new?: string
}

async function useTool(workspace: string, name: string, input: ToolInput): Promise<void> {
  const file = join(workspace, input.path ?? 'case.json')
  if (name === 'write_file') await writeFile(file, input.content ?? '')
  else if (name === 'submit_case') await writeFile(file, JSON.stringify(input))
  else {
    const text = await readFile(file, 'utf8')
    if (name === 'edit_file') await writeFile(file, text.replace(input.old ?? '', input.new ?? ''))
  }
}

function openHttp({ baseURL }: Turns, bodies: readonly string[]): (turn: number) => Promise<void> {
  return async (turn) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body: bodies[turn] ?? '' })
    const { choices } = (await response.json()) as { choices: unknown[] }
    if (choices.length !== 1) throw new Error('no call')
  }
}

const [folder = '', text = ''] = process.argv.slice(2)
const turns = JSON.parse(text) as Turns
const bodies = JSON.parse(readFileSync(turns.bodies, 'utf8')) as string[]
const cost = await timedWithCpu(async () => {
  const ask = turns.via === 'http' ? openHttp(turns, bodies) : await openSdk(turns, bodies)
  await inLanes(turns.tasks, concurrency, async (task) => {
    const workspace = join(folder, String(task))
    if (turns.via === 'tools') await mkdir(workspace)
    for (const turn of bodies.keys()) await ask(turn, workspace)
    if (turns.via === 'tools') await rm(workspace, { recursive: true })
  })
})
console.log(JSON.stringify(cost))
