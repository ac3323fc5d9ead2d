import type { ModelSource } from './provider.ts'
import { believableFinish } from './reply/finish.ts'
import { type Provider, type RawAnswer, readRawAnswer } from './reply/raw-answer.ts'
import { boundedFetch, type Exchange, type ExchangeLimits } from './request/exchange.ts'
import { isPassing } from './request/patience.ts'
import { callsIn, heardFrom, inputOf, type Message, promptOf, textIn, type Tool, type ToolChoice } from './speech.ts'
import type { Reported } from './tally.ts'

/** What one request is made of. */
export interface TurnRequest {
  provider: Provider
  source: ModelSource
  limits: ExchangeLimits
  instructions: string
  messages: readonly Message[]
  tools: Tool[]
  toolChoice: ToolChoice
  maxOutputTokens: number
  /** Called once for a request that a server began to answer: with what it says that was used, if it says anything. */
  onUsage(usage: Reported): void
}

/** One tool call: as the provider's package understood it, and the text of its arguments as it was sent. */
export interface TurnCall {
  id: string
  name: string
  input: unknown
  args: string
}

export type Turn =
  | { kind: 'answer'; text: string; calls: TurnCall[]; finish: string; message: Message }
  /** Something came that is no answer in the provider's dialect. */
  | { kind: 'unusable'; body: string; finish: string }
  /** `unsent`: no server was reached, so that nobody has heard anything. */
  | { kind: 'failed'; passing: boolean; retryAfterMs?: number; detail: string; unsent?: true }

/** Most characters taken of somebody else's error message. */
const mostWords = 2_000

/**
 * Asks once. What the provider's package throws is looked up in what was seen on the wire, so that no wording of an error decides anything. The package is
 * asked itself: what the SDK puts around it (steps, telemetry, checks of inputs) is done here, or not wanted, and costs as much as a request.
 */
export async function takeTurn(request: TurnRequest, signal: AbortSignal): Promise<Turn> {
  const exchange: Exchange = {}
  let used: Reported
  const { source, instructions, messages, tools, toolChoice, maxOutputTokens } = request
  const prompt = promptOf(instructions, messages)
  const own = boundedFetch(request.limits, exchange)
  const ask = async () => await source.model.doGenerate({ prompt, tools, toolChoice, maxOutputTokens, abortSignal: signal })
  try {
    const { content, finishReason, usage } = await source.board.through(own, ask)
    used = { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total }
    const raw = readRawAnswer(request.provider, exchange.body ?? '')
    const calls = raw && pairCalls(callsIn(content), raw)
    if (raw === undefined || calls === undefined) return unusable(exchange, 'an error, or more or less than one answer')
    if (calls.length > 0 && violates(toolChoice, calls)) return unusable(exchange, 'wrong tool called')
    const finish = believableFinish(finishReason.unified, raw)
    return { kind: 'answer', text: textIn(content), calls, finish, message: heardFrom(content) }
  } catch (error) {
    const failure = failureOf(exchange)
    if (failure !== undefined) return failure
    if (exchange.body !== undefined) return unusable(exchange, 'no answer of a model')
    return { kind: 'failed', passing: false, detail: `the request could not be made: ${String(error).slice(0, mostWords)}` }
  } finally {
    if (exchange.status !== undefined && exchange.status < 300) request.onUsage(used)
  }
}

/** The package's calls beside the raw ones. They must be the same calls in the same order, or the raw arguments belong to something else. */
function pairCalls(understood: ReturnType<typeof callsIn>, raw: RawAnswer): TurnCall[] | undefined {
  if (understood.length !== raw.calls.length) return undefined
  const pairs = understood.flatMap((call, index) => {
    const { name, args } = raw.calls[index] ?? { name: undefined, args: '' }
    return name === call.toolName ? [{ id: call.toolCallId, name, input: inputOf(call), args }] : []
  })
  return pairs.length === understood.length ? pairs : undefined
}

/** The model called other tools than the one that it had to. */
function violates(choice: ToolChoice, calls: readonly TurnCall[]): boolean {
  return choice.type === 'tool' && !calls.some(({ name }) => name === choice.toolName)
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
