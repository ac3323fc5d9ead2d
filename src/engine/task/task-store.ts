import type { TaskCommand } from '../../contract/commands/task.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type AssayEvent, versionOf } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Lease } from '../../contract/work.ts'
import { decide } from '../../core/task/decide.ts'
import { evolve, evolveAll } from '../../core/task/evolve.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { AppendResult, StreamAppend } from '../../ports/journal.ts'
import type { EngineParts } from '../parts.ts'
import { reactions } from './reactions.ts'
import { taskStream } from '../streams.ts'

export interface LoadedTask {
  state: MaybeTask
  version: number
}

/** A task as a decision under way will leave it: not on disk yet. */
interface Tip extends LoadedTask {
  /** Whether it came to be. */
  landed: Promise<boolean>
}

export interface HandleOptions {
  actor: string
  /** Work that this command completes, in the same transaction. */
  settles?: Lease
  /** Further events that belong to the same decision, on other streams (who holds a shared folder). */
  alongside?: (events: readonly AssayEvent[], after: TaskState) => StreamAppend[]
}

export type Handled =
  | { ok: true; events: AssayEvent[]; state: TaskState }
  | { ok: false; error: Refusal | { code: 'lease_lost' | 'conflict'; message: string } }

/** How often a command is decided anew because another writer was first. */
const maxTries = 25

/**
 * The shell around the core: load, decide, append; again if another writer was first.
 * A command that arrives while another one on the same task is on its way to the disk is decided on what that one leaves, and both are
 * written together; if the first does not get there, neither does the second, and it is decided anew. Nobody but the next decision sees
 * such a state: whatever is answered rests on what is durable.
 */
export class TaskStore {
  readonly #parts: EngineParts
  readonly #cache = new Map<string, LoadedTask>()
  readonly #tips = new Map<string, Tip>()
  readonly #listeners = new Set<(events: readonly StoredEvent[]) => void>()
  readonly #cacheSize: number

  constructor(parts: EngineParts, cacheSize = 4096) {
    this.#parts = parts
    this.#cacheSize = cacheSize
  }

  /** Tells of what is appended from here, once it is durable. Returns how to stop it. */
  listen(listener: (events: readonly StoredEvent[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The task as the journal has it now. */
  async load(task: string): Promise<LoadedTask> {
    const cached = this.#cache.get(task) ?? { state: undefined, version: 0 }
    const newer = await this.#parts.journal.readStream(taskStream(task), cached.version)
    if (newer.length === 0) return cached
    const state = evolveAll(cached.state, newer.map(readEvent))
    return this.#remember(task, { state, version: cached.version + newer.length })
  }

  async handle(task: string, command: TaskCommand, options: HandleOptions): Promise<Handled> {
    let loaded: LoadedTask | Tip = this.#tips.get(task) ?? this.#cache.get(task) ?? (await this.load(task))
    for (let tries = 0; tries < maxTries; tries += 1) {
      const decided = decide(loaded.state, command, this.#parts.rules)
      if (!decided.ok || decided.value.length === 0) {
        // The answer may rest on a state that another process has moved on from, or on one that never came to be.
        const landed = 'landed' in loaded ? await loaded.landed : true
        const current = await this.load(task)
        if (!landed || current.version !== loaded.version) {
          loaded = current
          continue
        }
        return decided.ok ? { ok: true, events: [], state: existing(task, current.state) } : decided
      }
      const state = existing(task, decided.value.reduce(evolve, loaded.state))
      const appended = await this.#append(task, loaded.version, decided.value, state, options)
      if (appended.ok) return { ok: true, events: decided.value, state }
      if (appended.code === 'lease_lost')
        return { ok: false, error: { code: 'lease_lost', message: 'another process has taken this work over' } }
      if (appended.stream !== taskStream(task))
        return { ok: false, error: { code: 'conflict', message: `${appended.stream} was changed by another task` } }
      loaded = await this.load(task)
    }
    return { ok: false, error: { code: 'conflict', message: `other writers were first ${maxTries} times in a row` } }
  }

  async #append(task: string, version: number, events: AssayEvent[], state: TaskState, options: HandleOptions): Promise<AppendResult> {
    const { promise: landed, resolve: land } = Promise.withResolvers<boolean>()
    const tip: Tip = { state, version: version + events.length, landed }
    this.#tips.set(task, tip)
    let durable = false
    try {
      const appended = await this.#write(task, version, events, state, options)
      if (appended.ok) {
        durable = true
        this.#remember(task, { state, version: tip.version })
        for (const listener of this.#listeners) listener(appended.events)
      }
      return appended
    } finally {
      // What was decided on a tip that failed fails too, so the next decision starts from the journal.
      if (!durable || this.#tips.get(task) === tip) this.#tips.delete(task)
      land(durable)
    }
  }

  #write(task: string, version: number, events: AssayEvent[], after: TaskState, { actor, settles, alongside }: HandleOptions) {
    const { journal, clock } = this.#parts
    const now = clock.now()
    return journal.append({
      streams: [{ stream: taskStream(task), expected: version, events: events.map(asNew) }, ...(alongside?.(events, after) ?? [])],
      meta: { at: new Date(now).toISOString(), actor },
      enqueue: reactions(events, version + 1, after, now),
      ...(settles && { settles }),
    })
  }

  /** Keeps the newest state; of two reads that overlap, the later to end may be the older. */
  #remember(task: string, loaded: LoadedTask): LoadedTask {
    const known = this.#cache.get(task)
    const newest = known && known.version > loaded.version ? known : loaded
    this.#cache.delete(task)
    this.#cache.set(task, newest)
    if (this.#cache.size > this.#cacheSize) {
      const oldest = this.#cache.keys().next().value
      if (oldest !== undefined) this.#cache.delete(oldest)
    }
    return newest
  }
}

function existing(task: string, state: MaybeTask): TaskState {
  if (!state) throw new Error(`a decision on ${task} left no task`)
  return state
}

export function asNew(event: AssayEvent): { type: string; v: number; data: unknown } {
  return { type: event.type, v: versionOf(event.type), data: event.data }
}
