import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import { deadlineOf, type Watched } from '../../core/sla/sla.ts'
import type { View } from '../../ports/journal.ts'
import { slaEntity, taskOf } from '../streams.ts'

export interface SlaRow extends Watched {
  mission: string
}

/** Tasks and missions that have a deadline, with what became of it. Missions are keyed apart from tasks. */
export const slaView: View<SlaRow> = {
  name: 'sla',
  keys: (event) => {
    const task = taskOf(event.stream)
    if (task !== undefined) return followed.has(event.type) ? [slaKey('task', task)] : []
    if (event.type === 'mission.started' || event.type === 'mission.finished' || event.type === 'mission.reopened')
      return [slaKey('mission', event.stream.slice('mission/'.length))]
    const entity = slaEntity(event.stream)
    return entity === undefined || event.type === 'clock.jumped' ? [] : [entity]
  },
  fold: (row, event) => {
    if (event.type === 'task.created') return fromTask(event)
    if (event.type === 'mission.started') return fromMission(event)
    return row && foldRow(row, event)
  },
}

export const slaKey = (type: 'task' | 'mission', id: string): string => `${type}:${id}`

const followed = new Set([
  'task.created',
  'task.readied',
  'task.accepted',
  'task.force_accepted',
  'task.failed',
  'task.skipped',
  'task.reopened',
])

const nothingYet = { failed: false, warned: false, violated: false, met: false }

function fromTask(event: StoredEvent): SlaRow | undefined {
  const { spec } = event.data as EventData<'task.created'>
  if (spec.deadline === undefined) return undefined
  const created = Date.parse(event.meta.at)
  return { entityId: spec.id, entityType: 'task', mission: spec.mission ?? '', written: spec.deadline, created, ...nothingYet }
}

function fromMission(event: StoredEvent): SlaRow | undefined {
  const { mission, deadline } = event.data as EventData<'mission.started'>
  if (deadline === undefined) return undefined
  return { entityId: mission, entityType: 'mission', mission, written: deadline, from: Date.parse(event.meta.at), ...nothingYet }
}

function foldRow(row: SlaRow, event: StoredEvent): SlaRow {
  const at = Date.parse(event.meta.at)
  const { doneAt: _doneAt, failedAt: _failedAt, ...rest } = row
  const open = { ...rest, failed: false }
  switch (event.type) {
    case 'task.readied':
      return { ...row, from: row.from ?? at }
    case 'task.accepted':
    case 'task.force_accepted':
      // Accepted once more, by the owner, it was done when it was accepted first.
      return doneBy(open, row.doneAt ?? at)
    case 'mission.finished': {
      const { outcome, ended } = event.data as EventData<'mission.finished'>
      const end = ended === undefined ? at : Date.parse(ended)
      return outcome === 'failed' ? failedBy(open, end) : doneBy(open, end)
    }
    case 'task.failed':
    case 'task.skipped':
      return failedBy(open, at)
    case 'task.reopened':
    case 'mission.reopened':
      return { ...open, ...((row.violated || isLate(row, at)) && { pardoned: true as const }) }
    case 'sla.warning':
      return { ...row, warned: true }
    case 'sla.violated':
      return { ...row, violated: true }
    case 'sla.met':
      return { ...row, met: true }
    default:
      return row
  }
}

const doneBy = (row: SlaRow, at: number): SlaRow => ({ ...row, doneAt: at })
const failedBy = (row: SlaRow, at: number): SlaRow => ({ ...row, failed: true, failedAt: at })
const isLate = (row: SlaRow, at: number): boolean => at > (deadlineOf(row) ?? Number.POSITIVE_INFINITY)
