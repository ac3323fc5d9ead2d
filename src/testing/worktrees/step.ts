import { writeFileSync } from 'node:fs'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { openWorkspaces } from '../../adapters/workspace/workspaces.ts'
import type { StepOrder } from './process.ts'

/** One step of a task in a process of its own; prints what it came to as JSON. */
const { projectRoot, task, step, git, content, merge } = JSON.parse(process.argv[2] ?? '') as StepOrder
const snapshots = openSnapshotStore({ folder: `${projectRoot}/.assay/objects` })
const workspaces = openWorkspaces({ folder: `${projectRoot}/.assay/work`, projectRoot, snapshots, ...(git !== undefined && { git }) })
const note = { subject: `Work of ${task.id}`, trailers: { 'Assay-Task': task.id } }
const integration = workspaces.integration(task)
const wanted = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error(`step ${step} was not told enough`)
  return value
}

async function run(): Promise<unknown> {
  switch (step) {
    case 'open':
      return workspaces.open(task, [])
    case 'close':
      return workspaces.close(task)
    case 'prepare':
      return integration?.prepare(wanted(content), note)
    case 'publish':
      return integration?.publish(wanted(merge))
    case 'catchUp':
      return integration?.catchUp()
    case 'land':
      return land()
  }
}

/** From an empty workspace to the mission's branch, however often others are first. */
async function land(): Promise<number> {
  const { path, base } = await workspaces.open(task, [])
  writeFileSync(`${path}/${task.id}.txt`, task.id)
  const taken = await snapshots.take(path, (inner) => workspaces.ignored(inner, task))
  if (!taken.ok) throw new Error(taken.problem.message)
  for (let rounds = 1; ; rounds++) {
    const prepared = await integration?.prepare({ snapshot: taken.manifest.digest, base }, note)
    if (prepared?.kind !== 'merged') throw new Error(JSON.stringify(prepared))
    if ((await integration?.publish(prepared)) === 'published') return rounds
  }
}

process.stdout.write(`${JSON.stringify((await run()) ?? null)}\n`)
