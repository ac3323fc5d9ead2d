import type { Provider } from '../reply/raw-answer.ts'
import type { Message } from '../speech.ts'

const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/**
 * The messages as a provider's cache wants them. Most find what they have seen before by themselves; Anthropic wants to be told where it ends:
 * after the task, which never changes, and after the last message, from which the next request goes on.
 */
export function withCacheMarks(provider: Provider, messages: readonly Message[]): Message[] {
  if (provider !== 'anthropic') return [...messages]
  return messages.map((message, index) => (index === 0 || index === messages.length - 1 ? { ...message, providerOptions: mark } : message))
}
