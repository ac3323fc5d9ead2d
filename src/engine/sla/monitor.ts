import type { AssayEvent } from '../../contract/events/manifest.ts'
import { deadlineOf, lookAt } from '../../core/sla/sla.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { slaStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import { slaKey, type SlaRow } from '../views/sla.ts'

/** How far the wall clock may drift from the steady one before it counts as a jump. */
const jumpMs = 60_000

export interface SlaMonitorOptions {
  missions: readonly string[]
  /** Ends a task whose time is up, past retries and escalation. */
  fail: (task: string, reason: string) => Promise<void>
  /** Unfinished tasks of a mission. */
  unfinished: (mission: string) => readonly string[]
}

/**
 * Looks at every deadline of some missions, and says each thing once: what was said stands in the entity's own stream, and of two
 * processes that say it at once one finds the stream changed. Intervals go by the steady clock, so that setting the wall clock neither
 * saves a deadline nor breaks it.
 */
export class SlaMonitor {
  readonly #parts: EngineParts
  readonly #options: SlaMonitorOptions
  readonly #begunAt: { wall: number; steady: number }
  #jumped = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(parts: EngineParts, options: SlaMonitorOptions) {
    this.#parts = parts
    this.#options = options
    this.#begunAt = { wall: parts.clock.now(), steady: parts.clock.monotonic() }
  }

  /** The time as this process has it: the wall clock at its beginning, and the steady clock since. */
  get now(): number {
    return this.#begunAt.wall + (this.#parts.clock.monotonic() - this.#begunAt.steady)
  }

  /** Looks now and again, until stopped. `onFault` hears of a store that fails. */
  start(onFault: (error: unknown) => void): void {
    const { checkIntervalMs } = this.#parts.config.sla
    const again = () => {
      this.#looking = this.look().then(
        (next) => {
          const wait = next === undefined ? checkIntervalMs : Math.min(checkIntervalMs, Math.max(10, next - this.now))
          this.#timer = setTimeout(again, wait)
          this.#timer.unref()
        },
        (error: unknown) => onFault(error),
      )
    }
    again()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#looking
    clearTimeout(this.#timer)
  }

  /** One look at everything; resolves to when the next thing is due. */
  async look(): Promise<number | undefined> {
    await this.#noteJump()
    let next: number | undefined
    for (const row of await this.#rows()) {
      const { events, next: due } = lookAt(row, this.now, this.#parts.config.sla)
      for (const event of events) await this.#say(row, event)
      // Whoever reported it may have died before it acted on it.
      if (row.violated) await this.#violated(row)
      if (due !== undefined && (next === undefined || due < next)) next = due
    }
    return next
  }

  async #rows(): Promise<SlaRow[]> {
    const found: SlaRow[] = []
    for (const mission of this.#options.missions) {
      const own = (await this.#parts.journal.viewRow('sla', slaKey('mission', mission))) as SlaRow | undefined
      if (own) found.push(own)
      const rows = await this.#parts.journal.viewRows('sla', { prefix: slaKey('task', `${mission}/`) })
      found.push(...rows.map(({ row }) => row as SlaRow))
    }
    return found
  }

  async #say(row: SlaRow, event: AssayEvent): Promise<void> {
    const { journal, clock, config } = this.#parts
    const stream = slaStream(slaKey(row.entityType, row.entityId))
    const said = await journal.readStream(stream)
    if (said.some(({ type }) => type === event.type)) return
    const meta = { at: new Date(clock.now()).toISOString(), actor: 'runtime' }
    const streams = [{ stream, expected: said.length, events: [asNew(event)] }]
    const appended = await journal.append({ streams, meta, enqueue: notificationsOf(streams, meta.at, config) })
    if (appended.ok && event.type === 'sla.violated') await this.#violated(row)
  }

  async #violated(row: SlaRow): Promise<void> {
    if (this.#parts.config.sla.violationAction !== 'fail' || row.doneAt !== undefined || row.pardoned) return
    const reason = `the deadline of the ${row.entityType} passed (${new Date(deadlineOf(row) ?? 0).toISOString()})`
    const tasks = row.entityType === 'task' ? [row.entityId] : this.#options.unfinished(row.entityId)
    for (const task of tasks) await this.#options.fail(task, reason)
  }

  async #noteJump(): Promise<void> {
    const { journal, clock, owner } = this.#parts
    const byMs = Math.round(clock.now() - this.now)
    if (Math.abs(byMs - this.#jumped) < jumpMs) return
    this.#jumped = byMs
    const stream = slaStream(`clock:${owner}`)
    const event = asNew({ type: 'clock.jumped', data: { byMs, process: owner } })
    await journal.append({
      streams: [{ stream, expected: await journal.head(stream), events: [event] }],
      meta: { at: new Date(clock.now()).toISOString(), actor: 'runtime' },
    })
  }
}
