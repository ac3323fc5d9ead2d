import type { Engine } from '../../engine/engine.ts'
import type { MissionRow } from '../../engine/views/tasks.ts'

/** Longest between two looks for missions that have something to do: due retries and ended leases make no event. */
const lookMs = 1000

export interface Keeper {
  /** Missions that are worked on, and open ones that are not because their policy is another. */
  state(): { running: string[]; otherPolicy: string[] }
  /** Resolves when the stop has been heard and everything has ended; rejects when the store failed. */
  ended: Promise<void>
}

/**
 * Works on every open mission until told to stop, and joins those that are started or opened again later, by whatever door. A mission that
 * can only be brought further from outside is left alone until something is due for it.
 */
export function keepRunning(engine: Engine, stop: AbortSignal, onFault: (error: unknown) => void): Keeper {
  const keeper = new MissionKeeper(engine, stop)
  const ended = keeper.run().catch((error: unknown) => {
    onFault(error)
    throw error
  })
  return { state: () => keeper.state(), ended }
}

/** Runs at once; missions beyond that wait for one to end. */
const mostRuns = 100
const page = 500

class MissionKeeper {
  readonly #engine: Engine
  readonly #stop: AbortSignal
  readonly #stopped: Promise<void>
  /** Open missions, and whether they go on under the policy in force. */
  readonly #open = new Map<string, boolean>()
  readonly #runs = new Map<string, Promise<void>>()
  /** Missions that were brought as far as can be from here. */
  readonly #resting = new Set<string>()
  #position = 0
  #fault: unknown

  constructor(engine: Engine, stop: AbortSignal) {
    this.#engine = engine
    this.#stop = stop
    this.#stopped = new Promise((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
  }

  state(): { running: string[]; otherPolicy: string[] } {
    const others = [...this.#open].filter(([, ours]) => !ours)
    return { running: [...this.#runs.keys()], otherPolicy: others.map(([id]) => id) }
  }

  async run(): Promise<void> {
    const { journal } = this.#engine.parts
    this.#position = await journal.position()
    // Deadlines pass while every mission rests, too.
    const endDeadlines = this.#engine.deadlines.begin((error) => {
      this.#fault ??= error
    })
    for (const { id, finished } of await this.#engine.missions()) if (finished === undefined) await this.#note(id)
    while (!this.#stop.aborted && this.#fault === undefined) {
      await this.#catchUp()
      await this.#begin()
      await this.#engine.showEndings()
      if (!this.#stop.aborted) await Promise.race([this.#stopped, journal.waitForNews(this.#position, lookMs)])
    }
    await Promise.all(this.#runs.values())
    await endDeadlines()
    if (this.#fault !== undefined) throw this.#fault
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const events = await this.#engine.events(this.#position, page)
      for (const event of events) {
        this.#position = event.position
        if (event.stream.startsWith('mission/')) await this.#follow(event.stream.slice('mission/'.length))
      }
      if (events.length < page) return
    }
  }

  async #follow(id: string): Promise<void> {
    const row = (await this.#engine.parts.journal.viewRow('missions', id)) as MissionRow | undefined
    if (row && row.finished === undefined) await this.#note(id)
    else this.#open.delete(id)
    if (!this.#open.has(id)) this.#resting.delete(id)
  }

  async #note(id: string): Promise<void> {
    this.#open.set(id, (await this.#engine.policyChanges(id)).length === 0)
  }

  /** Starts what is new, and what rests and has something due. */
  async #begin(): Promise<void> {
    const { journal } = this.#engine.parts
    const { due } = this.#resting.size === 0 ? { due: 0 } : await journal.workCount([...this.#resting])
    for (const [id, ours] of this.#open) {
      if (!ours || this.#runs.has(id) || this.#runs.size >= mostRuns) continue
      if (this.#resting.has(id) && (due === 0 || (await journal.workCount([id])).due === 0)) continue
      this.#resting.delete(id)
      this.#runs.set(id, this.#work(id))
    }
  }

  async #work(mission: string): Promise<void> {
    try {
      await this.#engine.run({ missions: [mission], stop: this.#stop, share: true })
      this.#resting.add(mission)
    } catch (error) {
      this.#fault ??= error
    } finally {
      this.#runs.delete(mission)
    }
  }
}
