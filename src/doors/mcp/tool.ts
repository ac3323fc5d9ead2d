import { z } from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Role } from './role.ts'
import type { Session } from './session.ts'

/** What a tool does to the world, for a client that asks its user first. */
interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}
export const reads: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
export const writes: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
export const repeats: Hints = { ...writes, idempotentHint: true }

export interface Call<Input> {
  session: Session
  engine: Engine
  input: Input
  /** The client waits no longer. */
  stop: AbortSignal
}

/** An answer in structure, or a refusal that says what to do instead. */
export type Answer<Output> = { ok: true; value: Output } | { ok: false; error: { code: string; message: string } }

export interface Tool<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  name: string
  role: Role
  title: string
  description: string
  input: Input
  output: Output
  hints: Hints
  handle(call: Call<z.output<Input>>): Promise<Answer<z.input<Output>>>
}

/** A tool whose handler is held to its schemas. */
export function tool<Input extends z.ZodType, Output extends z.ZodType>(made: Tool<Input, Output>): Tool {
  return made as unknown as Tool
}

export const answer = <T>(value: T): Answer<T> => ({ ok: true, value })
export const refuse = (code: string, message: string): Answer<never> => ({ ok: false, error: { code, message } })
export const refusedBy = (error: Refusal): Answer<never> => ({ ok: false, error })

/**
 * A field that is shown with its schema and read without it: what is wrong with a case or a verdict is recorded and answered by the core, as from
 * any other door, and not turned away before.
 */
export function shown(schema: z.ZodType): z.ZodType<unknown> {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'input' })
  return z.unknown().optional().meta(json)
}

/** Longest that a call waits for what it asked about: clients commonly give up after a minute. */
export const longestWait = 45

export const WaitSeconds = z
  .number()
  .min(0)
  .max(longestWait)
  .default(longestWait)
  .describe(`Seconds to wait for an answer; at most ${longestWait}.`)
