import type { AssayEvent } from '../../contract/events/manifest.ts'
import { deadlineOf, lookAt } from '../../core/sla/sla.ts'
import { allMissions } from '../mission/missions.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { slaStream } from '../streams.ts'
import { asNew, type TaskStore } from '../task/task-store.ts'
import { slaKey, type SlaRow } from '../views/sla.ts'
import type { MissionRow, TaskRow } from '../views/tasks.ts'

/** How far the wall clock may drift from the process's own before it counts as a jump. */
const jumpMs = 5_000
/** Least pause between two looks; and how much longer than a look took, so that however many deadlines there are most of the time is not theirs. */
const leastPauseMs = 10
const pausePerLook = 4

/** Of what became of a deadline one thing is said: it was met, or it was not. */
const isVerdict = (type: string): boolean => type === 'sla.met' || type === 'sla.violated'

const isOpen = ({ status }: TaskRow): boolean => status !== 'done' && status !== 'failed' && status !== 'skipped'

/**
 * Looks at every deadline of the folder while somebody runs something in this process, and says each thing once: what was said stands in the
 * entity's own stream, and of two processes that say it at once one finds the stream changed. Durations go by the process's own clock, so that
 * setting the wall clock neither saves a deadline nor breaks it; points in time go by the wall clock.
 */
export class SlaMonitor {
  readonly #parts: EngineParts
  readonly #tasks: Pick<TaskStore, 'handle'>
  /** Whoever runs something here, told where the store fails. */
  readonly #runs = new Set<(error: unknown) => void>()
  #timer: NodeJS.Timeout | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #looking: Promise<void> = Promise.resolve()
  /** Missions that were open at the last look; before the first one, every mission counts as such. */
  #wereOpen: ReadonlySet<string> | undefined
  #jumped: number

  constructor(parts: EngineParts, tasks: Pick<TaskStore, 'handle'>) {
    this.#parts = parts
    this.#tasks = tasks
    this.#jumped = this.#wallAhead
  }

  /** Looks at once, and again whenever something is due, until everybody who began has ended. Returns how to end. */
  begin(onFault: (error: unknown) => void): () => Promise<void> {
    this.#runs.add(onFault)
    this.#lookBy(this.#now)
    return async () => {
      this.#runs.delete(onFault)
      if (this.#runs.size > 0) return
      clearTimeout(this.#timer)
      this.#dueAt = Number.POSITIVE_INFINITY
      await this.#looking
    }
  }

  /** A task became ready: its deadline may come before what was looked forward to. */
  async readied(task: string): Promise<void> {
    const row = (await this.#parts.journal.viewRow('sla', slaKey('task', task))) as SlaRow | undefined
    if (!row) return
    const { events, next } = lookAt(row, this.#now, this.#parts.config.sla, this.#wallAhead)
    this.#lookBy(events.length > 0 ? this.#now : (next ?? Number.POSITIVE_INFINITY))
  }

  /** One look at every deadline; resolves to when the next thing is due. `missions` are looked at though they are finished. */
  async look(missions: readonly string[] = []): Promise<number | undefined> {
    await this.#noteJump()
    let next: number | undefined
    for (const row of await this.#rows(missions)) {
      const { events, next: due } = lookAt(row, this.#now, this.#parts.config.sla, this.#wallAhead)
      if (events.length > 0 && (await this.#isOverUnsaid(row))) continue
      for (const event of events) await this.#say(row, event)
      // Whoever reported it may have died before it acted on it.
      if (row.violated) await this.#violated(row)
      if (due !== undefined && (next === undefined || due < next)) next = due
    }
    return next
  }

  get #now(): number {
    return this.#parts.clock.now()
  }

  get #wallAhead(): number {
    return this.#parts.clock.wall() - this.#parts.clock.now()
  }

  #lookBy(at: number): void {
    if (this.#runs.size === 0 || at >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = at
    this.#timer = setTimeout(
      () => {
        this.#dueAt = Number.POSITIVE_INFINITY
        this.#looking = this.#looking.then(() => this.#lookAndPlan())
      },
      Math.max(0, at - this.#now),
    )
    this.#timer.unref()
  }

  async #lookAndPlan(): Promise<void> {
    if (this.#runs.size === 0) return
    const begun = this.#now
    try {
      const next = (await this.look()) ?? Number.POSITIVE_INFINITY
      const now = this.#now
      const pause = Math.max(leastPauseMs, (now - begun) * pausePerLook)
      this.#lookBy(Math.min(now + this.#parts.config.sla.checkIntervalMs, Math.max(now + pause, next)))
    } catch (error) {
      for (const onFault of this.#runs) onFault(error)
    }
  }

  async #rows(more: readonly string[]): Promise<SlaRow[]> {
    const { journal } = this.#parts
    const missions = await allMissions(this.#parts)
    const open = new Set(missions.filter(({ finished }) => finished === undefined).map(({ id }) => id))
    // One that has ended since the last look has something to be said of it still.
    const looked = new Set([...open, ...(this.#wereOpen ?? missions.map(({ id }) => id)), ...more])
    const found: SlaRow[] = []
    for (const mission of looked) {
      const own = (await journal.viewRow('sla', slaKey('mission', mission))) as SlaRow | undefined
      if (own) found.push(own)
      const rows = await journal.viewRows('sla', { prefix: slaKey('task', `${mission}/`) })
      found.push(...rows.map(({ row }) => row as SlaRow))
    }
    this.#wereOpen = open
    return found
  }

  async #say(row: SlaRow, event: AssayEvent): Promise<void> {
    const { journal, clock, config } = this.#parts
    const stream = slaStream(slaKey(row.entityType, row.entityId))
    const said = await journal.readStream(stream)
    if (said.some(({ type }) => type === event.type || (isVerdict(type) && isVerdict(event.type)))) return
    const meta = { at: new Date(clock.now()).toISOString(), actor: 'runtime' }
    const streams = [{ stream, expected: said.length, events: [asNew(event)] }]
    const appended = await journal.append({ streams, meta, enqueue: notificationsOf(streams, meta.at, config) })
    // Another process said something of it first: this may be left to say.
    if (!appended.ok) return this.#say(row, event)
    if (event.type === 'sla.violated') await this.#violated(row)
  }

  /** Ends what its time is up for, past retries and escalation. */
  async #violated(row: SlaRow): Promise<void> {
    if (this.#parts.config.sla.violationAction !== 'fail' || row.doneAt !== undefined || row.failed || row.pardoned) return
    const reason = `the deadline of the ${row.entityType} passed (${new Date(deadlineOf(row) ?? 0).toISOString()})`
    const tasks = row.entityType === 'task' ? [row.entityId] : await this.#unfinished(row.entityId)
    for (const task of tasks) await this.#tasks.handle(task, { type: 'fail_task', reason }, { actor: 'runtime' })
  }

  /** All tasks of the mission have ended, and nobody has finished it yet: what became of its deadline is said by when that was, once somebody does. */
  async #isOverUnsaid({ entityType, entityId, doneAt, failed }: SlaRow): Promise<boolean> {
    if (entityType !== 'mission' || doneAt !== undefined || failed) return false
    const { journal } = this.#parts
    const { tasks } = (await journal.viewRow('missions', entityId)) as MissionRow
    const rows = await journal.viewRows('tasks', { prefix: `${entityId}/` })
    return rows.length >= tasks && !rows.some(({ row }) => isOpen(row as TaskRow))
  }

  async #unfinished(mission: string): Promise<string[]> {
    const rows = await this.#parts.journal.viewRows('tasks', { prefix: `${mission}/` })
    return rows.filter(({ row }) => isOpen(row as TaskRow)).map(({ key }) => key)
  }

  async #noteJump(): Promise<void> {
    const { journal, clock, owner } = this.#parts
    const byMs = Math.round(this.#wallAhead)
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
