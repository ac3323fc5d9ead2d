import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { Journal } from '../../ports/journal.ts'
import { missionOf, taskOf } from '../streams.ts'
import { type TaskRow, tasksView } from '../views/tasks.ts'

/** Retries of unreachable judges that a run waits for before it leaves the task to a later one. */
const patience = 2

/** Follows the journal, whoever writes it, and keeps the rows of some missions' tasks. */
export class Watch {
  readonly #journal: Journal
  readonly #missions: Set<string>
  readonly #onEvent: (event: StoredEvent, row: TaskRow | undefined) => void
  /** Whether whoever does a task is not started by Assay: then nothing here can bring it further. */
  readonly #isOutside: (row: TaskRow) => boolean
  readonly rows = new Map<string, TaskRow>()
  position = 0
  /** Retries that were made before this watch began, where there were any; only later ones use up its patience. */
  readonly #retriesBefore = new Map<string, number>()
  /** Rows that are active: counted as they change, for nobody looks through all of them at every turn. */
  #activeRows = 0

  constructor(
    journal: Journal,
    missions: readonly string[],
    onEvent: (event: StoredEvent, row: TaskRow | undefined) => void = () => {},
    isOutside: (row: TaskRow) => boolean = () => false,
  ) {
    this.#isOutside = isOutside
    this.#journal = journal
    this.#missions = new Set(missions)
    this.#onEvent = onEvent
  }

  /** Loads the rows as they are now; events from here on are reported. */
  async begin(): Promise<void> {
    this.position = await this.#journal.position()
    for (const mission of this.#missions) {
      let afterKey: string | undefined
      do {
        const rows = await this.#journal.viewRows('tasks', { prefix: `${mission}/`, ...(afterKey && { afterKey }), limit: 2000 })
        for (const { key, row } of rows) {
          const { retries = 0 } = row as TaskRow
          if (retries > 0) this.#retriesBefore.set(key, retries)
          this.#keep(key, row as TaskRow)
        }
        afterKey = rows.length === 2000 ? rows.at(-1)?.key : undefined
      } while (afterKey)
    }
  }

  /** Tasks of a mission that exist. */
  count(mission: string): number {
    let count = 0
    for (const row of this.rows.values()) if (row.mission === mission) count += 1
    return count
  }

  /** Takes in what this process has just appended, where nothing is missing in between; what is left out, the next pass reads. */
  offer(events: readonly StoredEvent[]): void {
    for (const event of events) if (event.position === this.position + 1) this.#see(event)
  }

  /** Reads on to the end of the journal, as it is when this is called or later. Calls may overlap: no event is taken in twice. */
  async catchUp(): Promise<void> {
    for (;;) {
      const events = await this.#journal.read(this.position, 500)
      for (const event of events) if (event.position > this.position) this.#see(event)
      if (events.length < 500) return
    }
  }

  #see(event: StoredEvent): void {
    this.position = event.position
    const mission = missionOf(event.stream)
    // What other missions in the same folder do is shown where they are run.
    if (mission !== undefined && !this.#missions.has(mission)) return
    const task = taskOf(event.stream)
    if (task === undefined) return this.#onEvent(event, undefined)
    const row = tasksView.fold(this.rows.get(task), event, task)
    if (row) this.#keep(task, row)
    this.#onEvent(event, row)
  }

  #keep(task: string, row: TaskRow): void {
    const before = this.rows.get(task)
    this.#activeRows += Number(this.#isActive(row)) - Number(before !== undefined && this.#isActive(before))
    this.rows.set(task, row)
  }

  /** Follows until the signal; for progress on a screen. */
  async follow(signal: AbortSignal): Promise<void> {
    let wake = () => {}
    const onAbort = () => wake()
    signal.addEventListener('abort', onAbort)
    while (!signal.aborted) {
      // One promise a turn: what raced against one that lasts as long as the run would be remembered as long.
      const ended = new Promise<void>((resolve) => {
        wake = resolve
      })
      // A turn later, what this process appended has been offered and need not be read.
      await nextTurn()
      await this.catchUp()
      if (!signal.aborted) await Promise.race([ended, this.#journal.waitForNews(this.position, 500)])
    }
    signal.removeEventListener('abort', onAbort)
  }

  /** Whether anything is left that this process could still bring further. */
  get active(): boolean {
    return this.#activeRows > 0
  }

  #isActive(row: TaskRow): boolean {
    if (row.status === 'held') {
      const retries = (row.retries ?? 0) - (this.#retriesBefore.get(row.id) ?? 0)
      return row.held === 'judge_unavailable' && !row.byCall && retries < patience
    }
    if (row.status === 'todo' || row.status === 'running') return !this.#isOutside(row)
    if (row.status === 'in_review') return !waitsForOutside(row)
    return row.status === 'checking'
  }
}

/** Nobody but judges outside is still to answer. */
function waitsForOutside({ seats = [] }: TaskRow): boolean {
  return seats.some(({ state }) => state === 'awaited') && !seats.some(({ state }) => state === 'asked')
}
