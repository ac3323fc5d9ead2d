import { excerpt } from '../../../../contract/source/shown.ts'
import type { AttemptFailure } from '../../../../contract/events/attempt.ts'
import type { Talk, WorkEnding, WorkOrder } from '../../../../ports/brain.ts'
import { type Line, mostOf, shownDetail } from '../sitting.ts'
import type { Tool } from '../speech.ts'
import type { Turn } from '../turn.ts'
import type { Conversation } from './conversation.ts'
import type { Guard } from './guard.ts'
import type { Spending } from './spending.ts'
import type { DeskTool } from '../desk/desk.ts'

/** What bounds a worker's attempt. */
export interface WorkLimits {
  /** Time of the whole attempt, over all processes that take part in it. */
  attemptMs: number
  /** Messages of the model. */
  turns: number
  /** Characters of everything that is said and shown in an attempt. */
  outputBytes: number
  caseBytes: number
  /** US dollars; counted where the brain has prices. */
  costUsd?: number
}

/** Sums of prices are not exact: what differs by less is the same amount. */
const rounding = 1e-9

/** One process's part of an attempt. */
export interface Shift {
  line: Line
  limits: WorkLimits
  order: WorkOrder
  talk: Talk
  tools: Record<string, DeskTool>
  offered: Tool[]
  conversation: Conversation
  spending: Spending
  guard: Guard
  /** Ends with the operator's stop. */
  stop: AbortSignal
  /** Ends with that, and with the attempt's time. */
  time: AbortSignal
  /** What is being written down meanwhile: nothing further is done before it is durable. Resolves to what went wrong. */
  writing: Promise<unknown>
  /** Raw arguments of the calls of the model's last message, by id; those of calls read back from the store are gone. */
  raw: Map<string, string>
  /** What the model said in its last message. */
  lastText: string
}

/** Lets something be written down while the model is asked: that has no effects, and is where the time goes. */
export function writeMeanwhile(shift: Shift, write: Promise<void>): void {
  shift.writing = write.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Waits until everything is written down. */
export async function written(shift: Shift): Promise<void> {
  const error = await shift.writing
  if (error !== undefined) throw error
}

/** The attempt is over, with what was used in it. */
export function failed(shift: Shift, failure: AttemptFailure, detail: string, beforeEffect = false): WorkEnding {
  const usage = shift.spending.usage()
  return { kind: 'failed', failure, detail: shownDetail(shift.line.redact, detail), output: shift.lastText, beforeEffect, usage }
}

/** The operator ended the turn, with what was used until then. */
export function stopped({ spending, lastText }: Shift, detail: string): WorkEnding {
  return { kind: 'stopped', detail, output: lastText, usage: spending.usage() }
}

/** The signal ended it: the operator's, or the attempt's time. */
export function outOfTime(shift: Shift): WorkEnding | undefined {
  if (shift.stop.aborted) return stopped(shift, 'the turn was stopped')
  const { attemptMs } = shift.limits
  return shift.time.aborted ? failed(shift, 'timeout', `the attempt was not over after ${attemptMs} ms`) : undefined
}

/** The limit that has been reached, if one has. Looked at before every request, so that none is paid for in vain. */
export function limitReached(shift: Shift, instructions: string): WorkEnding | undefined {
  const { limits, conversation } = shift
  const late = outOfTime(shift)
  if (late) return late
  if (conversation.turns >= limits.turns)
    return failed(shift, 'error', `no case after ${limits.turns} turns, the most that an attempt may have`)
  if (conversation.length > limits.outputBytes)
    return failed(shift, 'output', `the conversation is longer than ${limits.outputBytes} bytes, the most that an attempt may have`)
  const dear = tooDear(shift, instructions)
  return dear === undefined ? undefined : failed(shift, 'error', dear)
}

/** Why the next request is not made, where it could cost more than is left; undefined where it may be made. */
export function tooDear({ line, limits, conversation, spending }: Shift, instructions: string): string | undefined {
  const cost = spending.costUsd
  if (limits.costUsd === undefined || cost === undefined) return undefined
  const next = mostOf(line, { instructions, messages: conversation.messages })
  if (cost < limits.costUsd && cost + next <= limits.costUsd + rounding) return undefined
  return `the attempt has cost $${cost.toFixed(4)}, and its next request may cost $${next.toFixed(4)} more; at most $${limits.costUsd} may be spent on one`
}

/** What the model's silence or nonsense comes to once asking again was in vain. */
export function noAnswer(shift: Shift, turn: Exclude<Turn, { kind: 'answer' }>): WorkEnding {
  const late = outOfTime(shift)
  if (late) return late
  if (turn.kind === 'unusable') return failed(shift, 'output', `the model's answer cannot be used: ${excerpt(turn.finish)}`)
  const first = shift.conversation.turns === 0
  return failed(shift, 'error', `the model cannot be reached: ${turn.detail}`, first && turn.unsent === true)
}

/** The same value without the key in any of its texts. */
export function withoutKey<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === 'string') return redact(value) as T
  if (Array.isArray(value)) return value.map((item) => withoutKey(item as unknown, redact)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutKey(item as unknown, redact)])) as T
}
