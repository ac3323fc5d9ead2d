import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Lease, WorkKind } from '../contract/work.ts'
import { deliverNotification } from './notify/deliver.ts'
import { runAttempt } from './work/attempt/run.ts'
import { fanOut } from './delegation/fan-out.ts'
import { handOver } from './deliverables/hand-over.ts'
import { observed } from './telemetry/telling.ts'
import { watchWorker } from './outside/watch.ts'
import type { Lane } from './lanes.ts'
import type { Bench, Runner } from './work/bench.ts'
import { runChecks } from './work/checks.ts'
import { restoreSnapshot, retryReview, settleDependents, settleGate } from './work/house.ts'
import { askJudge } from './work/judging/ask.ts'
import { mergeWork, publishMerge } from './work/merge.ts'

const runners: Record<WorkKind, Runner> = {
  run_attempt: runAttempt,
  run_checks: runChecks,
  ask_judge: askJudge,
  restore_snapshot: restoreSnapshot,
  merge_work: mergeWork,
  publish_merge: publishMerge,
  retry_review: retryReview,
  settle_dependents: settleDependents,
  notify: deliverNotification,
  settle_gate: settleGate,
  fan_out: fanOut,
  hand_over: handOver,
  watch_worker: watchWorker,
}

interface Running {
  lease: Lease
  lane: Lane
  abort: AbortController
  done: Promise<void>
}

export interface PumpOptions {
  scopes: string[]
  leaseMs: number
  stopGraceMs: number
  /** What is done at once; pumps with the same lanes share them. */
  lanes: Lane[]
  /** Ends the pump cleanly: no new work, open attempts get the grace time. */
  stop: AbortSignal
  /** The last position of the journal that this process has seen. */
  position: () => number
  /** Asked whenever nothing is running here and nothing is due, notifications aside: true ends the pump, once these have gone out. */
  finished: () => Promise<boolean>
  /** Longest that it stays for notifications alone. */
  tellMs: number
}

/** Takes work, runs it, keeps its leases alive, until there is nothing left to do or it is told to stop. */
export class Pump {
  readonly #bench: Bench
  readonly #options: PumpOptions
  readonly #running = new Map<string, Running>()
  #wake: () => void = () => {}
  /** Something ended, or a stop was asked for, since the work was last looked at. */
  #stirred = false
  #failure: unknown
  /** All that is left are notifications: until when they are waited for. Work that comes meanwhile is done all the same. */
  #tellingUntil: number | undefined

  constructor(bench: Bench, options: PumpOptions) {
    this.#bench = bench
    this.#options = options
  }

  /** Resolves when finished or stopped. Rejects when the store failed or a runner has a bug: then nothing more is claimed or acknowledged. */
  async run(): Promise<'finished' | 'stopped'> {
    const beating = setInterval(() => void this.#beat(), Math.max(50, Math.floor(this.#options.leaseMs / 4)))
    const onStop = () => this.#stir()
    this.#options.stop.addEventListener('abort', onStop)
    try {
      // A store that fails in here ends what runs, as one that fails in a runner does.
      const ending = await this.#loop().catch((error: unknown) => {
        this.#failure ??= error
        return 'stopped' as const
      })
      await this.#drain()
      if (this.#failure) throw this.#failure
      return ending
    } finally {
      clearInterval(beating)
      this.#options.stop.removeEventListener('abort', onStop)
    }
  }

  async #loop(): Promise<'finished' | 'stopped'> {
    for (;;) {
      if (this.#failure) return 'stopped'
      if (this.#options.stop.aborted) return this.#tellingUntil === undefined ? 'stopped' : 'finished'
      this.#stirred = false
      const seen = this.#options.position()
      const claimed = await this.#fill()
      if (claimed > 0) continue
      if (await this.#isOver()) return 'finished'
      await this.#idle(seen)
    }
  }

  async #isOver(): Promise<boolean> {
    if ([...this.#running.values()].some(({ lease }) => lease.kind !== 'notify')) return false
    if (this.#tellingUntil === undefined) {
      if (!(await this.#options.finished())) return false
      this.#tellingUntil = performance.now() + this.#options.tellMs
    }
    return this.#running.size === 0 || performance.now() >= this.#tellingUntil
  }

  /** Ends what runs here for a task that was ended meanwhile. */
  end(task: string): void {
    for (const { lease, abort } of this.#running.values()) if ((lease.payload as { task?: string }).task === task) abort.abort('ended')
  }

  #stir(): void {
    this.#stirred = true
    this.#wake()
  }

  /** Claims as much as there is room for. */
  async #fill(): Promise<number> {
    const { journal, owner } = this.#bench.parts
    const { scopes, leaseMs, lanes } = this.#options
    const rooms = lanes.map((lane) => ({ lane, room: lane.take(() => this.#stir()) })).filter(({ room }) => room > 0)
    const claims = await Promise.all(
      rooms.map(async ({ lane, room }) => {
        let used = 0
        try {
          const leases = await journal.claim({ owner, kinds: lane.kinds, scopes, limit: room, leaseMs })
          used = leases.length
          return { lane, leases }
        } finally {
          lane.giveBack(room - used)
        }
      }),
    )
    for (const { lane, leases } of claims) for (const lease of leases) this.#start(lane, lease)
    return claims.reduce((sum, { leases }) => sum + leases.length, 0)
  }

  #start(lane: Lane, lease: Lease): void {
    if (lease.kind !== 'notify') this.#tellingUntil = undefined
    const abort = new AbortController()
    const runner = runners[lease.kind as WorkKind]
    const done = (async () => {
      try {
        await observed(this.#bench.parts.telemetry, lease, () => runner(this.#bench, lease, abort.signal))
      } catch (error) {
        this.#failure ??= error
      } finally {
        this.#running.delete(lease.key)
        lane.giveBack(1)
        this.#stir()
      }
    })()
    this.#running.set(lease.key, { lease, lane, abort, done })
  }

  /** Until something ends here, something is appended anywhere after `seen`, or a moment passes (leases run out, delays end). */
  async #idle(seen: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    // Whoever follows the journal gets a turn, however much there is that is new.
    await nextTurn()
    if (this.#stirred) return
    const pause = this.#running.size > 0 ? 1_000 : 100
    await Promise.race([woken, this.#bench.parts.journal.waitForNews(seen, pause)])
  }

  /** Renews every lease. One that was lost belongs to somebody else: its work here is ended. */
  async #beat(): Promise<void> {
    try {
      await Promise.all(
        [...this.#running.values()].map(async ({ lease, abort }) => {
          if (!(await this.#bench.parts.journal.beat(lease, this.#options.leaseMs))) abort.abort('lease lost')
        }),
      )
    } catch (error) {
      this.#failure ??= error
      this.#stir()
    }
  }

  /** Lets what runs end: attempts within the grace time, the rest at once; after a finish that is nothing but notifications. */
  async #drain(): Promise<void> {
    const all = () => Promise.all([...this.#running.values()].map(({ done }) => done))
    for (const { lane, abort } of this.#running.values()) if (!lane.graceful || this.#failure) abort.abort('stopping')
    const grace = setTimeout(() => {
      for (const { abort } of this.#running.values()) abort.abort('stopping')
    }, this.#options.stopGraceMs)
    await all()
    clearTimeout(grace)
  }
}
