import { isInstant } from '../../contract/config/duration.ts'
import type { MissionFile } from '../../contract/mission/mission.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { shown } from '../../contract/source/shown.ts'

/** Points in time that have passed before anything began: nobody could meet them. */
export function pastDeadlines({ deadline, tasks }: MissionFile, now: number): Finding[] {
  const written: [Path, string | undefined][] = [
    [['deadline'], deadline],
    ...tasks.map((task, index): [Path, string | undefined] => [['tasks', index, 'deadline'], task.deadline]),
  ]
  return written.flatMap(([path, time]) => {
    if (time === undefined || !isInstant(time) || Date.parse(time) > now) return []
    const message = `the deadline ${shown(time)} has passed: it is ${new Date(now).toISOString()}`
    return [{ path, message, fix: 'write a later one; a run that has begun goes on with `assay resume`' }]
  })
}
