import { join } from 'node:path'
import { z } from 'zod'
import { readRecord, writeRecord } from '../../../adapters/workspace/durable-record.ts'
import { InstalledPackages } from '../../../adapters/workspace/held-folder/packages.ts'
import { sharedFolder, sharedPlace } from '../../../adapters/workspace/lineage.ts'
import { safeName } from '../../../adapters/workspace/names.ts'
import { Digest } from '../../../contract/canonical.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import { WorkspaceFault, type Workspaces } from '../../../ports/workspace.ts'
import { Tools } from './tools.ts'

/** Where programs of judges and checks of a session's task come from: the folder as the session found it, and tools that are in no snapshot. */
const SessionRecord = z.strictObject({ version: z.literal(1), task: z.string(), before: Digest, tools: Tools })
type SessionRecord = z.infer<typeof SessionRecord>

const recordFile = (work: string, task: string): string => join(work, `${safeName(task)}.session`)

/** Durable when it returns. Whatever process judges the task later finds it. */
export function equipTask(work: string, task: string, { before, tools }: { before: Digest; tools: Tools }): void {
  writeRecord(recordFile(work, task), { version: 1, task, before, tools } satisfies SessionRecord)
}

/** Undefined for a task that no session was equipped for. */
export function equipmentOf(work: string, task: string): SessionRecord | undefined {
  const file = recordFile(work, task)
  const record = readRecord(file)
  if (record === undefined) return undefined
  const parsed = SessionRecord.safeParse(record)
  if (!parsed.success || parsed.data.task !== task)
    throw new WorkspaceFault('bad_record', `${file} does not say what judges of ${task} start from`)
  return parsed.data
}

/**
 * Workspaces in which the folder of a coding agent's session counts as one that others share: judges and checks of the session's tasks start from what was
 * there before the agent began. Nothing is ever put back in it, for it is the person's own.
 */
export function withSessions(
  workspaces: Workspaces,
  { folder, projectRoot, snapshots }: { folder: string; projectRoot: string; snapshots: SnapshotStore },
): Workspaces {
  const equipped = (task: TaskSpec) =>
    task.outside === true && task.workspace.kind === 'scratch' ? equipmentOf(folder, task.id) : undefined
  const root = () => sharedFolder(projectRoot, '.')
  return {
    ...workspaces,
    shared: (task) => {
      const record = equipped(task)
      if (!record) return workspaces.shared(task)
      return { ...sharedPlace(projectRoot, root()), before: record.before, kept: Object.keys(record.tools.kept) }
    },
    meddled: async (task) => {
      const packages = equipped(task)?.tools.packages
      return packages ? new InstalledPackages({ folder, snapshots }, root()).changes(packages) : workspaces.meddled(task)
    },
  }
}
