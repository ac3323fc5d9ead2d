import type { LanguageModelUsage, ModelMessage, ToolChoice, ToolSet } from 'ai'
import type { ModelSource } from './provider.ts'
import type { Sdk } from './sdk.ts'
import { believableFinish } from './reply/finish.ts'
import { type Provider, type RawAnswer, readRawAnswer } from './reply/raw-answer.ts'
import { boundedFetch, type Exchange, type ExchangeLimits } from './request/exchange.ts'
import { isPassing } from './request/patience.ts'

/** What one request is made of. */
export interface TurnRequest {
  sdk: Sdk
  provider: Provider
  source: ModelSource
  limits: ExchangeLimits
  instructions: string
  messages: ModelMessage[]
  tools: ToolSet
  toolChoice: ToolChoice<ToolSet>
  maxOutputTokens: number
  /** Called once for a request that a server began to answer: with what it says that was used, if it says anything. */
  onUsage(usage: LanguageModelUsage | undefined): void
}

/** One tool call: as the SDK understood it, and the text of its arguments as it was sent. */
export interface TurnCall {
  id: string
  name: string
  input: unknown
  args: string
}

export type Turn =
  | { kind: 'answer'; text: string; calls: TurnCall[]; finish: string; messages: ModelMessage[] }
  /** Something came that is no answer in the provider's dialect. */
  | { kind: 'unusable'; body: string; finish: string }
  /** `unsent`: no server was reached, so that nobody has heard anything. */
  | { kind: 'failed'; passing: boolean; retryAfterMs?: number; detail: string; unsent?: true }

/** Most characters taken of somebody else's error message. */
const mostWords = 2_000

/** Asks once. What the SDK throws is looked up in what was seen on the wire, so that no wording of an error decides anything. */
export async function takeTurn(request: TurnRequest, signal: AbortSignal): Promise<Turn> {
  const exchange: Exchange = {}
  let used: LanguageModelUsage | undefined
  const { sdk, source, instructions, messages, tools, toolChoice, maxOutputTokens } = request
  const own = boundedFetch(request.limits, exchange)
  const ask = () =>
    sdk.generateText({
      model: source.model,
      instructions,
      messages,
      tools,
      toolChoice,
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: signal,
      onLanguageModelCallEnd: ({ usage }) => {
        used = usage
      },
    })
  try {
    const result = await source.board.through(own, ask)
    const raw = readRawAnswer(request.provider, exchange.body ?? '')
    const calls = raw && pairCalls(result.toolCalls, raw)
    if (raw === undefined || calls === undefined) return unusable(exchange, 'an error, or more or less than one answer')
    return {
      kind: 'answer',
      text: result.text,
      calls,
      finish: believableFinish(result.finishReason, raw),
      messages: result.response.messages,
    }
  } catch (error) {
    const failure = failureOf(exchange)
    if (failure !== undefined) return failure
    if (sdk.ToolChoiceViolationError.isInstance(error)) return declined(request.provider, exchange, error)
    if (exchange.body !== undefined) return unusable(exchange, 'no answer of a model')
    return { kind: 'failed', passing: false, detail: `the request could not be made: ${String(error).slice(0, mostWords)}` }
  } finally {
    if (exchange.status !== undefined && exchange.status < 300) request.onUsage(used)
  }
}

/** The SDK's calls beside the raw ones. They must be the same calls in the same order, or the raw arguments belong to something else. */
function pairCalls(
  understood: readonly { toolCallId: string; toolName: string; input: unknown }[],
  raw: RawAnswer,
): TurnCall[] | undefined {
  if (understood.length !== raw.calls.length) return undefined
  const pairs = understood.flatMap(({ toolCallId, toolName, input }, index) => {
    const { name, args } = raw.calls[index] ?? { name: undefined, args: '' }
    return name === toolName ? [{ id: toolCallId, name, input, args }] : []
  })
  return pairs.length === understood.length ? pairs : undefined
}

/** The model did not call the tool that it had to. Text without any call is an answer of its own; another call is none. */
function declined(provider: Provider, exchange: Exchange, error: { content: readonly unknown[]; finishReason: string }): Turn {
  const raw = readRawAnswer(provider, exchange.body ?? '')
  if (raw === undefined || raw.calls.length > 0) return unusable(exchange, 'wrong tool called')
  const text = error.content.flatMap((part) => (isText(part) ? [part.text] : [])).join('')
  return { kind: 'answer', text, calls: [], finish: believableFinish(error.finishReason, raw), messages: [] }
}

function isText(part: unknown): part is { type: 'text'; text: string } {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'text'
}

/** What went wrong on the wire, if anything did. */
function failureOf({ fault, status, body, retryAfterMs }: Exchange): Turn | undefined {
  if (fault?.kind === 'unusable') return { kind: 'unusable', body: fault.body, finish: fault.finish }
  if (fault?.kind === 'network') return { kind: 'failed', passing: true, detail: fault.detail, ...(fault.unsent && { unsent: true }) }
  if (fault !== undefined) return { kind: 'failed', passing: fault.kind !== 'redirect', detail: fault.detail }
  if (status === undefined || status < 400) return undefined
  const said = messageIn(body ?? '')
  const detail = `the server answers HTTP ${status}${said === undefined ? '' : `: ${said}`}`
  return { kind: 'failed', passing: isPassing(status), detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** The message of an error, where the body has one in the usual place. */
function messageIn(body: string): string | undefined {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown } | null } | null
    return typeof parsed?.error?.message === 'string' ? parsed.error.message.slice(0, mostWords) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function unusable({ body }: Exchange, finish: string): Turn {
  return { kind: 'unusable', body: body ?? '', finish }
}
