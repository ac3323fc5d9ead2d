import { visible } from '../contract/source/shown.ts'
import { namedDifferences } from '../core/policy/accepted.ts'
import type { Engine } from '../engine/engine.ts'
import { acceptInForce, isOwned } from '../engine/policy/owner.ts'
import { JournalFault } from '../ports/journal.ts'
import { personIsHere, startedByOwner } from './authority.ts'

/** Whatever the owner starts is started under a policy that the owner stands behind; where that is a new one, it is said. */
export async function standBehindStart(engine: Engine, serves: boolean): Promise<void> {
  try {
    await standBehind(engine, serves)
  } catch (error) {
    // What is damaged is told, with every place, by whoever looks at all of the journal before running on it.
    if (!(error instanceof JournalFault && error.code === 'corrupt')) throw error
  }
}

async function standBehind(engine: Engine, serves: boolean): Promise<void> {
  if (!(await isOwned(engine.parts)) || (await engine.policyStanding()).accepted) return
  const starter = startedByOwner({ env: process.env, person: personIsHere(), serves })
  if (!starter || !(await engine.isOwner(starter.token))) return
  const accepted = await acceptInForce(engine.parts, { by: starter.by, reason: "started with the owner's authority", how: 'started' })
  if (!accepted.ok || !accepted.value.recorded) return
  const differs = visible(namedDifferences(accepted.value.differences))
  process.stderr.write(`assay: note: you stand behind a changed policy from now on: ${differs}\n`)
}
