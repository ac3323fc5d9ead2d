import type { SnapshotProblem } from '../ports/snapshots.ts'

/** What the work is kept in failed: never a verdict about the work, and no bug. Doors say it in a line. */
export class StoreFault extends Error {
  constructor(what: string, problem?: SnapshotProblem) {
    const full = problem?.code === 'disk_full' ? 'The disk is full. Free some space; work goes on once there is room: ' : ''
    super(`${full}${what}${problem ? `: ${problem.message}` : ''}`)
    this.name = 'StoreFault'
  }
}
