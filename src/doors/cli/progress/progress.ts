import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'

/** Shows a run as it goes. */
export interface Progress {
  begin(rows: readonly TaskRow[]): void
  event(event: StoredEvent, row: TaskRow | undefined): void
  /** Leaves the screen as it should stay. */
  end(): void
}
