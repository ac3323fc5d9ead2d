import type { Engine } from '../../engine/engine.ts'
import type { MissionRow } from '../../engine/views/tasks.ts'

/** Longest between two looks for work that became due: retries and leases that ran out make no event. */
const lookMs = 1000
/** Missions that are worked on at once. */
const most = 100

/**
 * Works on the missions that calls touched, so that their checks run and their judges are asked while this process lives. One that can only be
 * brought further from outside rests until something is due for it.
 */
export class TouchedMissions {
  readonly #engine: Engine
  readonly #stop: AbortSignal
  readonly #log: (line: string) => void
  readonly #working = new Map<string, Promise<void>>()

  constructor(engine: Engine, stop: AbortSignal, log: (line: string) => void) {
    this.#engine = engine
    this.#stop = stop
    this.#log = log
  }

  touch(mission: string): void {
    if (this.#working.has(mission) || this.#stop.aborted) return
    if (this.#working.size >= most) return this.#log(`${most} missions are worked on here; ${mission} waits for another process`)
    const work = this.#work(mission)
      .catch((error: unknown) => this.#log(`${mission}: ${(error as Error).stack ?? String(error)}`))
      .finally(() => this.#working.delete(mission))
    this.#working.set(mission, work)
  }

  /** Resolves when the stop was heard and nothing is under way. */
  async ended(): Promise<void> {
    await Promise.all(this.#working.values())
  }

  async #work(mission: string): Promise<void> {
    const { journal, rules } = this.#engine.parts
    while (!this.#stop.aborted) {
      const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
      if (!row || row.finished !== undefined) return
      if (row.policy !== rules.digest)
        return this.#log(`${mission} was started under another policy and is not worked on here: assay resume ${mission} --accept-policy`)
      await this.#engine.run({ missions: [mission], stop: this.#stop, share: true })
      await this.#rest(mission)
    }
  }

  async #rest(mission: string): Promise<void> {
    const { journal } = this.#engine.parts
    let wake = () => {}
    const onStop = () => wake()
    this.#stop.addEventListener('abort', onStop)
    while (!this.#stop.aborted) {
      const position = await journal.position()
      const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
      if (row?.finished !== undefined || (await journal.workCount([mission])).due > 0) break
      // One promise a turn: what raced against one that lasts as long as the process would be remembered as long.
      const stopped = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (!this.#stop.aborted) await Promise.race([stopped, journal.waitForNews(position, lookMs)])
    }
    this.#stop.removeEventListener('abort', onStop)
  }
}
