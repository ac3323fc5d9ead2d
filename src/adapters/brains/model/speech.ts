/** The words in which every provider's model is spoken to: those of the interface that the AI SDK's providers share. */
import type {
  JSONSchema7,
  LanguageModelV4Content,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'

export type Message = LanguageModelV4Message
export type Tool = LanguageModelV4FunctionTool
export type ToolChoice = LanguageModelV4ToolChoice
type Content = LanguageModelV4Content
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number]

export function userSays(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

/** The answer to one tool call. */
export function toolSays(id: string, name: string, text: string): Message {
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value: text } }] }
}

/** A tool that the model may call. It does not run by itself, and nobody checks its input but us. */
export function offered(name: string, description: string, schema: Record<string, unknown>): Tool {
  return { type: 'function', name, description, inputSchema: schema as JSONSchema7 }
}

/** The whole of what a model is told. Answers to calls of one message stand in one message, as providers want it. */
export function promptOf(instructions: string, messages: readonly Message[]): Message[] {
  const prompt: Message[] = [{ role: 'system', content: instructions }]
  for (const message of messages) {
    const last = prompt.at(-1)
    if (message.role === 'tool' && last?.role === 'tool')
      prompt[prompt.length - 1] = { ...last, content: [...last.content, ...message.content] }
    else prompt.push(message)
  }
  return prompt
}

/** Everything that the model said in words. */
export function textIn(content: readonly Content[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

export function callsIn(content: readonly Content[]): LanguageModelV4ToolCall[] {
  return content.filter((part) => part.type === 'tool-call')
}

/** The arguments of a call as a value; what is no JSON stays the text that it is. */
export function inputOf({ input }: LanguageModelV4ToolCall): unknown {
  if (input.trim() === '') return {}
  try {
    return JSON.parse(input)
  } catch (error) {
    if (error instanceof SyntaxError) return input
    throw error
  }
}

/**
 * The model's message as it may be repeated to it: with what a provider wants to see again beside each part, such as the signature of a thought; every
 * call with an object as its arguments; never empty.
 */
export function heardFrom(content: readonly Content[]): Message {
  const parts = content.flatMap((part): AssistantPart[] => {
    const providerOptions = part.providerMetadata && { providerOptions: part.providerMetadata }
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text, ...providerOptions }]
    if (part.type === 'reasoning') return [{ type: 'reasoning', text: part.text, ...providerOptions }]
    if (part.type !== 'tool-call') return []
    const { toolCallId, toolName } = part
    return [{ type: 'tool-call', toolCallId, toolName, input: asObject(inputOf(part)), ...providerOptions }]
  })
  return { role: 'assistant', content: parts.length > 0 ? parts : [{ type: 'text', text: '(nothing)' }] }
}

function asObject(input: unknown): object {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { arguments: input ?? null }
}
