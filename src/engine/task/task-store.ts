import type { TaskCommand } from '../../contract/commands/task.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type AssayEvent, versionOf } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Lease } from '../../contract/work.ts'
import { decide } from '../../core/task/decide.ts'
import { holdForDefect } from '../../core/task/defect.ts'
import type { Decided } from '../../core/task/draft.ts'
import { evolve, evolveAll } from '../../core/task/evolve/evolve.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import type { EngineParts } from '../parts.ts'
import { notificationsOf } from '../notify/outbox.ts'
import { type Belonging, movesEnded } from '../gates/open-again.ts'
import { belongingTo } from './belonging.ts'
import { type EndedTask, EndedTasks, endedOf } from './ended.ts'
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
  /** Whether the work is completed by this outcome; always, where nothing is said. */
  settledBy?: (after: TaskState) => boolean
  /** Further events that belong to the same decision, on other streams (who holds a shared folder). */
  alongside?: (events: readonly AssayEvent[], after: TaskState) => StreamAppend[]
}

export type Handled =
  | { ok: true; events: AssayEvent[]; state: TaskState }
  | { ok: false; error: Refusal | { code: 'lease_lost' | 'conflict'; message: string } }

/** How often a command is decided anew because another writer was first. */
const maxTries = 25
/** What the states that are kept in memory may weigh together; anything else is read from the journal when needed. */
const maxWeight = 56 * 1024 * 1024

/**
 * The shell around the core: load, decide, append; again if another process was first.
 * Within this process decisions on one task are made one after the other, so that the verdicts of a panel do not get in each other's way.
 */
export class TaskStore {
  readonly #parts: EngineParts
  readonly #cache = new Map<string, LoadedTask>()
  /** The latest command on each task that is under way. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #ended = new EndedTasks()
  readonly #listeners = new Set<(events: readonly StoredEvent[]) => void>()
  #weight = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
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

  /** The same of a task that is done, for those who depend on it; undefined where it is not. One whose end is known is not read again. */
  async ended(task: string): Promise<EndedTask | undefined> {
    const known = this.#ended.get(task, await this.#parts.journal.head(taskStream(task)))
    if (known) return known
    const { state, version } = await this.load(task)
    return state && endedOf(state, version)
  }

  async handle(task: string, command: TaskCommand, options: HandleOptions): Promise<Handled> {
    const before = this.#turns.get(task)
    const turn = before
      ? Promise.allSettled([before]).then(() => this.#handleNow(task, command, options))
      : this.#handleNow(task, command, options)
    this.#turns.set(task, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(task) === turn) this.#turns.delete(task)
    }
  }

  async #handleNow(task: string, command: TaskCommand, options: HandleOptions): Promise<Handled> {
    let loaded = this.#cache.get(task) ?? (await this.load(task))
    for (let tries = 0; tries < maxTries; tries += 1) {
      const decided = this.#decide(loaded.state, command, options)
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
      const moves = movesEnded(loaded.state, decided.value, state)
      const belonging = moves ? await belongingTo(this.#ground, loaded.state, state) : []
      const appended = await this.#append(task, loaded.version, decided.value, state, options, belonging)
      if (appended.ok) {
        this.#remember(task, { state, version: loaded.version + decided.value.length })
        for (const listener of this.#listeners) listener(appended.events)
        return { ok: true, events: decided.value, state }
      }
      if (appended.code === 'lease_lost')
        return { ok: false, error: { code: 'lease_lost', message: 'another process has taken this work over' } }
      const { stream } = appended
      if (stream !== taskStream(task) && !belonging.some((one) => one.stream === stream))
        return { ok: false, error: { code: 'conflict', message: `${stream} was changed by another task` } }
      loaded = await this.load(task)
    }
    return { ok: false, error: { code: 'conflict', message: `other writers were first ${maxTries} times in a row` } }
  }

  get #ground() {
    const { journal, rules } = this.#parts
    return { journal, rules, load: (task: string) => this.load(task) }
  }

  /** Work comes back until its command is decided: a defect met there holds this one task for its owner instead of ending every run. */
  #decide(state: MaybeTask, command: TaskCommand, { settles }: HandleOptions): Decided {
    try {
      return decide(state, command, this.#parts.rules)
    } catch (error) {
      const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      const detail = `Assay has a defect and could not decide ${command.type} (${what}). Nothing was decided; please report it`
      const held = state && settles ? holdForDefect(state, detail) : undefined
      if (!held?.ok) throw error
      return held
    }
  }

  #append(
    task: string,
    version: number,
    events: AssayEvent[],
    after: TaskState,
    { actor, settles, settledBy, alongside }: HandleOptions,
    belonging: readonly Belonging[],
  ) {
    const { journal, clock, config } = this.#parts
    const at = new Date(clock.now()).toISOString()
    const others = belonging.map(({ stream, expected, events: told }) => ({ stream, expected, events: told.map(asNew) }))
    const work = belonging.flatMap((one) => one.work ?? [])
    const own = { stream: taskStream(task), expected: version, events: events.map(asNew) }
    const streams = [own, ...others, ...(alongside?.(events, after) ?? [])]
    return journal.append({
      streams,
      meta: { at, actor },
      enqueue: [...reactions(events, version + 1, after), ...work, ...notificationsOf(streams, at, config)],
      ...(settles && (settledBy?.(after) === false ? { holds: settles } : { settles })),
    })
  }

  /** Keeps the newest state; of two reads that overlap, the later to end may be the older. Forgets what has not changed for longest. */
  #remember(task: string, loaded: LoadedTask): LoadedTask {
    const known = this.#cache.get(task)
    const newest = known && known.version > loaded.version ? known : loaded
    this.#forget(task)
    this.#ended.see(task, newest.state, newest.version)
    this.#cache.set(task, newest)
    this.#weight += weightOf(newest)
    for (const oldest of this.#cache.keys()) {
      if (this.#weight <= maxWeight || oldest === task) break
      this.#forget(oldest)
    }
    return newest
  }

  #forget(task: string): void {
    const known = this.#cache.get(task)
    if (!known) return
    this.#cache.delete(task)
    this.#weight -= weightOf(known)
  }
}

/** About what a task takes in memory, in bytes: itself, and the output of every submission. */
function weightOf({ state }: LoadedTask): number {
  let weight = 16 * 1024
  for (const content of Object.values(state?.contents ?? {})) weight += content.output?.length ?? 0
  return weight
}

export function asNew(event: AssayEvent): { type: string; v: number; data: unknown } {
  return { type: event.type, v: versionOf(event.type), data: event.data }
}
