import type { Result } from '../../contract/errors.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { missionStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import type { MissionRow } from '../views/tasks.ts'
import { createAll, type StartProblem, startProblem, storePlan } from './missions.ts'

/** Tasks that are added to a run that has begun. */
export interface Addition {
  mission: string
  /** Names the cause: the same cause adds once, however often it is reported. */
  key: string
  tasks: TaskSpec[]
  by: string
}

/** Adds tasks to a run, durably before any of them exists; a finished run is open again. What they depend on may have ended already. */
export async function extendMission(
  parts: EngineParts,
  { mission, key, tasks, by }: Addition,
): Promise<Result<'added' | 'known', StartProblem>> {
  const { journal, clock } = parts
  const plan = await storePlan(parts, { id: mission, name: mission, tasks })
  for (let tries = 0; tries < 20; tries += 1) {
    const events = await journal.readStream(missionStream(mission))
    const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
    if (!row) return startProblem('not_found', mission, `there is no mission ${mission}`)
    const known = events.some((event) => event.type === 'mission.extended' && (event.data as { key: string }).key === key)
    const meta = { at: new Date(clock.now()).toISOString(), actor: by }
    const fresh: AssayEvent[] = [{ type: 'mission.extended', data: { mission, key, plan, tasks: tasks.length, by } }]
    if (row.finished !== undefined) fresh.push({ type: 'mission.reopened', data: { mission, task: tasks[0]?.id ?? '' } })
    const streams = [{ stream: missionStream(mission), expected: events.length, events: fresh.map(asNew) }]
    if (!known && !(await journal.append({ streams, meta, enqueue: notificationsOf(streams, meta.at, parts.config) })).ok) continue
    await createAll(parts, mission, { tasks }, 'late')
    return { ok: true, value: known ? 'known' : 'added' }
  }
  return startProblem('too_fast', mission, `other processes kept changing ${mission}`)
}
