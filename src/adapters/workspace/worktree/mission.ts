import { join } from 'node:path'
import { z } from 'zod'
import type { TaskSpec } from '../../../contract/task.ts'
import { readRecord, writeFirstRecord, writeRecord } from '../durable-record.ts'
import { WorkspaceFault } from '../fault.ts'
import { safeName } from '../names.ts'
import { isAncestor, moveRef, readRef } from './git/refs.ts'
import { headCommit, type Repository } from './git/repository.ts'
import { ObjectId } from './record.ts'

/** Which branches are a mission's, and where it began. */
const MissionRecord = z.strictObject({
  version: z.literal(1),
  mission: z.string(),
  /** `assay/<name>`: the branches are below it. */
  branches: z.string(),
  start: ObjectId,
  /** Whether its branch was made; from then on one that is missing was removed by somebody. */
  made: z.boolean(),
})
type MissionRecord = z.infer<typeof MissionRecord>

const maxNames = 100

/** Tasks of one mission share a branch; a task without one is its own. */
export const missionOf = (task: TaskSpec): string => task.mission ?? `task ${task.id}`

/** One part of a branch's name: git allows no `~`, and our names have no dot. */
const refPart = (id: string): string => safeName(id).replace('~', '.')

export interface MissionBranch {
  /** Full name of the ref. */
  ref: string
  head: string
  /** The task's own ref. */
  taskRef: string
}

/** The mission's branch; made, at what the user has checked out, when its first worktree is opened. */
export async function missionBranch(repository: Repository, folder: string, task: TaskSpec): Promise<MissionBranch> {
  const file = join(folder, `${safeName(missionOf(task))}.mission`)
  const record = readMission(file, missionOf(task)) ?? (await beginMission(repository, file, missionOf(task)))
  const ref = `refs/heads/${record.branches}/result`
  if (!record.made) await makeBranch(repository, file, record, ref)
  const head = await readRef(repository, ref)
  if (head === undefined) {
    throw new WorkspaceFault(
      'bad_record',
      `branch ${record.branches}/result of the mission is gone; bring it back (it began at ${record.start})`,
    )
  }
  return { ref, head, taskRef: `refs/heads/${record.branches}/task/${refPart(task.id)}` }
}

function readMission(file: string, mission: string): MissionRecord | undefined {
  const record = readRecord(file)
  if (record === undefined) return undefined
  const parsed = MissionRecord.safeParse(record)
  if (parsed.success && parsed.data.mission === mission) return parsed.data
  throw new WorkspaceFault('bad_record', `${file} does not say where mission ${mission} began; it is left as it is`)
}

/** Branches of the same name may be left from an earlier life of the mission, or belong to another checkout: they are not built upon. */
async function beginMission(repository: Repository, file: string, mission: string): Promise<MissionRecord> {
  const start = await headCommit(repository)
  for (let count = 1; count <= maxNames; count++) {
    const branches = `assay/${refPart(mission)}${count === 1 ? '' : `-${count}`}`
    if ((await readRef(repository, `refs/heads/${branches}/result`)) !== undefined) continue
    const record: MissionRecord = { version: 1, mission, branches, start, made: false }
    if (writeFirstRecord(file, record)) return record
    const first = readMission(file, mission)
    if (first) return first
  }
  throw new WorkspaceFault('git_failed', `there are ${maxNames} branches assay/${refPart(mission)}…/result already; remove some`)
}

async function makeBranch(repository: Repository, file: string, record: MissionRecord, ref: string): Promise<void> {
  const made = await moveRef(repository, ref, record.start, null)
  const head = made ? record.start : await readRef(repository, ref)
  if (head === undefined || !(await isAncestor(repository, record.start, head))) {
    throw new WorkspaceFault('bad_record', `branch ${record.branches}/result belongs to somebody else; remove or rename it`)
  }
  writeRecord(file, { ...record, made: true })
}
