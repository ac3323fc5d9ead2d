import { z } from 'zod'
import { MissionDetail, MissionItem, MissionStarted, NeededReason, Reason, TasksChanged } from '../../../contract/http/mission.ts'
import { formatPlace, formatProblem } from '../../../contract/source/problem.ts'
import { retryMission } from '../../../engine/gates/retry.ts'
import { stopMission } from '../../../engine/gates/stop.ts'
import { namedRequest } from '../../../engine/mission/requested.ts'
import { readPlan } from '../../../engine/project.ts'
import type { MissionRow } from '../../../engine/views/tasks.ts'
import { refuse, refusedBy } from '../answer/problem.ts'
import type { Answer } from '../answer/reply.ts'
import type { Door } from '../door.ts'
import { listOf, pageOf, Paging } from '../page.ts'
import { route } from '../route.ts'
import { requestName } from './own.ts'
import { taskPage } from './tasks.ts'

const params = z.object({ mission: z.string().min(1).max(300).describe('Id of the run.') })
const noMission = (mission: string) => refuse('not_found', `there is no mission ${mission}`)

/** Whose request asked for it is nobody else's affair. */
const shown = ({ key: _request, ...row }: MissionRow) => row

async function missionRow({ engine }: Door, mission: string): Promise<MissionRow | undefined> {
  return (await engine.parts.journal.viewRow('missions', mission)) as MissionRow | undefined
}

const looking = [
  route({
    method: 'get',
    path: '/v1/missions',
    scope: 'owner',
    tag: 'missions',
    summary: 'Every run of every mission, newest first.',
    query: z.object({ ...Paging, open: z.enum(['true', 'false']).optional().describe('Only those that are, or are not, finished.') }),
    reply: listOf(MissionItem),
    handle: async ({ door, query }) => {
      const rows = (await door.engine.missions()).filter(
        (row) => query.open === undefined || (row.finished === undefined) === (query.open === 'true'),
      )
      const all = rows.map(shown)
      const key = (row: ReturnType<typeof shown>) => `${row.started} ${row.id}`
      const newest = all.sort((one, other) => (key(one) < key(other) ? 1 : -1))
      return { body: pageOf(newest, key, query, true) }
    },
  }),
  route({
    method: 'get',
    path: '/v1/missions/{mission}',
    scope: 'owner',
    tag: 'missions',
    summary: 'One run: its gates, its counts, its first tasks.',
    params,
    reply: MissionDetail,
    handle: async ({ door, params: { mission } }) => {
      const row = await missionRow(door, mission)
      if (!row) return noMission(mission)
      const { engine } = door
      const gates = (await engine.gates(mission)).map(({ state: _state, ...gate }) => gate)
      const { items, next } = await taskPage(door, `${mission}/`, () => true, { limit: 100 })
      const counts: Record<string, number> = {}
      for (const task of await engine.taskRows(`${mission}/`)) {
        const word = task.status === 'done' ? (task.flag ?? 'done') : task.status
        counts[word] = (counts[word] ?? 0) + 1
      }
      return { body: { mission: shown(row), gates, counts, tasks: items, next, policyChanges: await engine.policyChanges(mission) } }
    },
  }),
]

const steering = [
  route({
    method: 'post',
    path: '/v1/missions',
    scope: 'owner',
    tag: 'missions',
    summary: 'Start a mission: the body is the mission itself, as YAML or JSON. A run of the same plan that is not finished is joined.',
    query: z.object({ fresh: z.enum(['true', 'false']).default('false').describe('Start another run although one is not finished.') }),
    body: 'text',
    reply: MissionStarted,
    status: [201, 200],
    handle: async ({ door, who, query, body, key }) => {
      const read = readPlan({ text: body, file: 'mission' }, door.project)
      if (!read.ok) {
        const errors = read.error.map((problem) => ({ pointer: formatPlace(problem), detail: formatProblem(problem) }))
        return refuse('invalid_mission', errors[0]?.detail ?? 'the mission cannot be read', { errors })
      }
      const started = await door.engine.start(read.value.plan, {
        fresh: query.fresh === 'true',
        ...(key !== undefined && { request: namedRequest(requestName(who.name, key), { mission: body, fresh: query.fresh }) }),
      })
      if (!started.ok) return refusedBy(started.error)
      const { mission, joined } = started.value
      const notices = [...door.project.parsed.notices, ...read.value.notices].map(formatProblem)
      return { status: joined ? 200 : 201, headers: { location: `/v1/missions/${mission}` }, body: { mission, joined, notices } }
    },
  }),
  route({
    method: 'post',
    path: '/v1/missions/{mission}/stop',
    scope: 'owner',
    tag: 'missions',
    summary: 'Fail whatever is not finished, answer its gates, and finish the run.',
    params,
    body: NeededReason,
    reply: TasksChanged,
    handle: ({ door, who, params: { mission }, body: { reason } }) => stop(door, mission, { by: who.name, reason }),
  }),
  route({
    method: 'post',
    path: '/v1/missions/{mission}/retry',
    scope: 'owner',
    tag: 'missions',
    summary: 'Open failed and skipped tasks again, with one more attempt each.',
    params,
    body: Reason,
    reply: TasksChanged,
    handle: ({ door, who, params: { mission }, body: { reason } }) => retry(door, mission, { by: who.name, reason }),
  }),
  route({
    method: 'post',
    path: '/v1/missions/{mission}/accept-policy',
    scope: 'owner',
    tag: 'missions',
    summary: 'Let the policy in force take over a run that was started under another.',
    params,
    body: z.strictObject({}),
    reply: z.strictObject({ mission: z.string(), adopted: z.int().describe('Tasks that are decided under it from here on.') }),
    handle: async ({ door, who, params: { mission } }) => {
      const accepted = await door.engine.acceptPolicy(mission, who.name)
      return accepted.ok ? { body: { mission, adopted: accepted.value } } : refusedBy(accepted.error)
    },
  }),
  route({
    method: 'post',
    path: '/v1/missions/{mission}/waive-threshold',
    scope: 'owner',
    tag: 'missions',
    summary: 'A missed quality threshold counts no longer.',
    params,
    body: NeededReason,
    reply: z.strictObject({ mission: z.string() }),
    handle: async ({ door, who, params: { mission }, body: { reason } }) => {
      const waived = await door.engine.waiveThreshold(mission, { by: who.name, reason })
      return waived.ok ? { body: { mission } } : refusedBy(waived.error)
    },
  }),
]

async function retry(door: Door, mission: string, order: { by: string; reason: string }): Promise<Answer<z.input<typeof TasksChanged>>> {
  if (!(await missionRow(door, mission))) return noMission(mission)
  return { body: { mission, ...(await retryMission(door.engine, mission, order)) } }
}

async function stop(door: Door, mission: string, order: { by: string; reason: string }): Promise<Answer<z.input<typeof TasksChanged>>> {
  if (!(await missionRow(door, mission))) return noMission(mission)
  const { changed, refused } = await stopMission(door.engine, mission, order)
  return { body: { mission, changed, refused } }
}

export const missionRoutes = [...looking, ...steering]
