import { mostCost } from '../../../contract/agent.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { RawReply } from '../../../contract/verdict.ts'
import type { JudgeEnding, JudgeQuestion } from '../../../ports/brain.ts'
import { judgeInstructions } from './instructions.ts'
import type { ModelBrain, ModelSource } from './provider.ts'
import type { Redact } from './reply/redact.ts'
import type { ExchangeLimits } from './request/exchange.ts'
import type { Patience } from './request/patience.ts'
import { persist } from './request/persist.ts'
import { setTimer } from './request/timer.ts'
import { type Message, toolSays, userSays } from './speech.ts'
import { type Explorer, openExplorer } from './tools/explorer.ts'
import { Tally } from './tally.ts'
import { toolSet } from './tools/tool-set.ts'
import type { Turn, TurnRequest } from './turn.ts'
import { verdictTool } from './tools/verdict-tool.ts'

/** Everything that it takes to reach a model. */
export interface Line {
  brain: ModelBrain
  source: ModelSource
  redact: Redact
  exchange: ExchangeLimits
  patience: Patience
  maxOutputTokens: number
  random(): number
}

/** Everything a sitting needs besides the question. */
export interface Court extends Line {
  sittingMs: number
  /** Turns in which the judge may read before it has to answer. */
  readingTurns: number
  /** Most characters of everything that it reads by tools. */
  readingChars: number
  verdictSchema(question: JudgeQuestion): Record<string, unknown>
}

/** Tool calls of one turn that are answered; a turn with more is told so. */
const mostCalls = 16

type Answer = Extract<Turn, { kind: 'answer' }>

/** One judge, one question, a fresh context: it reads by tools for some turns, and then it has to answer. */
export async function sit(court: Court, question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding> {
  const started = performance.now()
  const tally = new Tally(court.brain.prices)
  const time = new AbortController()
  const stop = () => time.abort()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const clear = setTimer(court.sittingMs, stop)
  try {
    const ending = await hear(court, question, { tally, signal: time.signal, endsAt: started + court.sittingMs })
    if (signal.aborted && ending.kind !== 'reply') return { kind: 'stopped' }
    const usage = { ...tally.usage(), durationMs: performance.now() - started }
    return ending.kind === 'reply'
      ? { kind: 'reply', reply: clean(court.redact, ending.reply), usage }
      : { kind: 'unavailable', detail: shownDetail(court.redact, ending.detail), usage }
  } finally {
    clear()
    signal.removeEventListener('abort', stop)
  }
}

interface Session {
  tally: Tally
  signal: AbortSignal
  /** When the sitting is over, on the monotonic clock. */
  endsAt: number
}

type Heard = { kind: 'reply'; reply: RawReply } | { kind: 'unavailable'; detail: string }

async function hear(court: Court, question: JudgeQuestion, session: Session): Promise<Heard> {
  const explorer = await openExplorer(question.reader, question.nonce, court.readingChars)
  const readingTurns = explorer.empty ? 0 : court.readingTurns
  const messages: Message[] = [userSays(court.redact(question.prompt))]
  const request = requestFor(court, question, readingTurns, messages, session)
  const { patience, random } = court
  const asking = {
    ...{ patience, random, signal: session.signal, endsAt: session.endsAt, whole: 'the sitting', wholeMs: court.sittingMs },
    affordable: () => requestsLeft(court, request, session.tally, question.budgetUsd) >= 1,
  }
  for (let turn = 0; ; turn += 1) {
    const room = requestsLeft(court, request, session.tally, question.budgetUsd)
    // Whoever asks has decided that the first request is affordable.
    if (turn > 0 && room < 1) return { kind: 'unavailable', detail: 'what judging may cost does not last for its next request' }
    const last = turn >= readingTurns || room < 2
    const answer = await persist({ ...request, toolChoice: last ? { type: 'tool', toolName: verdictTool } : { type: 'auto' } }, asking)
    if (answer.kind === 'failed') return { kind: 'unavailable', detail: answer.detail }
    if (answer.kind === 'unusable') return { kind: 'reply', reply: { channel: 'text', body: answer.body, finish: answer.finish } }
    const reply = replyIn(answer, question.nonce, last)
    if (reply !== undefined) return { kind: 'reply', reply }
    messages.push(...(await conversation(explorer, answer, court.redact)))
  }
}

interface Said {
  instructions: string
  messages: readonly Message[]
}

/** How many requests like the next one the budget lasts for, each as long as an answer may be. */
function requestsLeft(court: Court, said: Said, tally: Tally, budgetUsd?: number): number {
  if (budgetUsd === undefined || !court.brain.prices) return Number.POSITIVE_INFINITY
  const next = mostOf(court, said)
  return next === 0 ? Number.POSITIVE_INFINITY : (budgetUsd - (tally.usage().costUsd ?? 0)) / next
}

/** Most that the next request costs. The first one is counted as whoever decided that it is affordable did: by the question alone. */
export function mostOf({ brain, maxOutputTokens }: Line, { instructions, messages }: Said): number {
  const [first] = messages
  const [only] = messages.length === 1 && first?.role === 'user' ? first.content : []
  const question = only?.type === 'text' ? only.text : undefined
  const bytes = Buffer.byteLength(question ?? instructions + JSON.stringify(messages))
  return brain.prices ? mostCost(brain.prices, bytes, maxOutputTokens) : 0
}

function requestFor(
  court: Court,
  question: JudgeQuestion,
  readingTurns: number,
  messages: Message[],
  { tally }: Session,
): Omit<TurnRequest, 'toolChoice'> {
  const { provider } = court.brain
  const { instructions, prompt } = question
  // The question may begin with the agent's own instructions; they are said once.
  const own = instructions !== undefined && prompt.startsWith(instructions) ? undefined : instructions
  const told = court.redact(judgeInstructions(readingTurns, own))
  return {
    provider,
    source: court.source,
    limits: court.exchange,
    instructions: told,
    messages,
    tools: toolSet(provider, court.verdictSchema(question), readingTurns > 0),
    maxOutputTokens: court.maxOutputTokens,
    onUsage: (usage) => tally.add(usage, () => mostOf(court, { instructions: told, messages })),
  }
}

/**
 * What the judge answered, if it did. Two different verdicts in one turn are handed over as a list, which nobody can take for a verdict; so is a
 * verdict beside text that carries the nonce, because that text is an answer too. A judge that is still reading has not made up its mind.
 */
function replyIn({ calls, text, finish }: Answer, nonce: string, last: boolean): RawReply | undefined {
  const verdicts = calls.filter(({ name }) => name === verdictTool).map(({ args }) => args)
  if (verdicts.length > 0) {
    if (verdicts.length < calls.length)
      return { channel: 'text', body: verdicts.join('\n'), finish: 'other tools called beside the verdict' }
    const answers = [...new Set([...verdicts, ...(text.includes(nonce) ? [text] : [])])]
    return { channel: 'tool', body: answers.length === 1 ? (answers[0] as string) : `[${answers.join(',\n')}]`, finish }
  }
  if (calls.length === 0) return { channel: 'text', body: text, finish }
  return last ? { channel: 'text', body: text, finish: 'wrong tool called' } : undefined
}

/** The turn and the answers to its calls. */
async function conversation(explorer: Explorer, { calls, message }: Answer, redact: Redact): Promise<Message[]> {
  const results: Message[] = []
  for (const [index, { id, name, input }] of calls.entries()) {
    const answer = index < mostCalls ? await explorer.answer(name, input) : `Not answered: at most ${mostCalls} calls in one turn.`
    results.push(toolSays(id, name, redact(answer)))
  }
  return [message, ...results]
}

function clean(redact: Redact, { channel, body, finish }: RawReply): RawReply {
  return { channel, body: redact(body), ...(finish === undefined ? {} : { finish: redact(finish).slice(0, 200) }) }
}

/** Words of a server, as they may be shown: without the key, on one line, not too long. */
export function shownDetail(redact: Redact, detail: string): string {
  return visible(redact(detail)).slice(0, 500)
}
