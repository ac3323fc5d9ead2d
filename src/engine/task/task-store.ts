import type { TaskCommand } from '../../contract/commands/task.ts'
import type { Refusal } from '../../contract/errors.ts'
import { type AssayEvent, versionOf } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Lease } from '../../contract/work.ts'
import { decide } from '../../core/task/decide.ts'
import { evolve, evolveAll } from '../../core/task/evolve.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import type { EngineParts } from '../parts.ts'
import { reactions } from './reactions.ts'
import { taskStream } from '../streams.ts'

export interface LoadedTask {
  state: MaybeTask
  version: number
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

/** The shell around the core: load, decide, append; again if another writer was first. */
export class TaskStore {
  readonly #parts: EngineParts
  readonly #cache = new Map<string, LoadedTask>()
  readonly #cacheSize: number

  constructor(parts: EngineParts, cacheSize = 4096) {
    this.#parts = parts
    this.#cacheSize = cacheSize
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
    let loaded = this.#cache.get(task) ?? (await this.load(task))
    for (let tries = 0; tries < maxTries; tries += 1) {
      const decided = decide(loaded.state, command, this.#parts.rules)
      if (!decided.ok) {
        // A refusal may rest on a state that another process has moved on from.
        const current = await this.load(task)
        if (current.version === loaded.version) return decided
        loaded = current
        continue
      }
      const state = decided.value.reduce(evolve, loaded.state)
      if (!state) throw new Error(`a decision on ${task} left no task`)
      if (decided.value.length === 0) return { ok: true, events: [], state }
      const appended = await this.#append(task, loaded.version, decided.value, state, options)
      if (appended.ok) {
        this.#remember(task, { state, version: loaded.version + decided.value.length })
        return { ok: true, events: decided.value, state }
      }
      if (appended.code === 'lease_lost')
        return { ok: false, error: { code: 'lease_lost', message: 'another process has taken this work over' } }
      if (appended.stream !== taskStream(task))
        return { ok: false, error: { code: 'conflict', message: `${appended.stream} was changed by another task` } }
      loaded = await this.load(task)
    }
    return { ok: false, error: { code: 'conflict', message: `other writers were first ${maxTries} times in a row` } }
  }

  #append(task: string, version: number, events: AssayEvent[], after: TaskState, { actor, settles, alongside }: HandleOptions) {
    const { journal, clock } = this.#parts
    const now = clock.now()
    return journal.append({
      streams: [{ stream: taskStream(task), expected: version, events: events.map(asNew) }, ...(alongside?.(events, after) ?? [])],
      meta: { at: new Date(now).toISOString(), actor },
      enqueue: reactions(events, version + 1, after, now),
      ...(settles && { settles }),
    })
  }

  #remember(task: string, loaded: LoadedTask): LoadedTask {
    this.#cache.delete(task)
    this.#cache.set(task, loaded)
    if (this.#cache.size > this.#cacheSize) {
      const oldest = this.#cache.keys().next().value
      if (oldest !== undefined) this.#cache.delete(oldest)
    }
    return loaded
  }
}

export function asNew(event: AssayEvent): { type: string; v: number; data: unknown } {
  return { type: event.type, v: versionOf(event.type), data: event.data }
}
