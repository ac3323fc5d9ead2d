import { Digest } from '../../contract/canonical.ts'
import type { Card } from '../../contract/deliverable/deliverable.ts'
import type { Result } from '../../contract/errors.ts'
import type { SnapshotFile } from '../../ports/snapshots.ts'
import type { EngineParts } from '../parts.ts'
import type { Engine } from '../engine.ts'
import type { InboxRow } from '../views/inbox.ts'
import { groundOf } from './cards/rests-on.ts'
import { contradiction, saysAccepted } from './cards/taken-back.ts'

/**
 * Writes what a card hands over into a folder that holds nothing yet: the reviewed snapshot, every byte held against its digest, never the
 * working copy.
 */
export async function exportCard(
  { snapshots }: Pick<EngineParts, 'snapshots'>,
  { card, snapshot, digest }: Card,
  folder: string,
): Promise<Result<SnapshotFile[]>> {
  const named = Digest.safeParse(snapshot)
  if (!named.success) return refused('not_found', `the card ${card} hands nothing over`)
  const manifest = await snapshots.manifest(named.data)
  if (!manifest) return refused('not_found', `the snapshot ${snapshot} of the card ${card} is not in the store`)
  const [only] = manifest.files
  const isWhole = manifest.digest === digest
  const isOnly = manifest.files.length === 1 && only?.digest === digest
  if (!isWhole && !isOnly) return refused('wrong_status', `the snapshot of the card ${card} is not what it hands over (${digest})`)
  const restored = await snapshots.restore(named.data, folder)
  return restored.ok ? { ok: true, value: manifest.files } : refused('wrong_status', restored.problem.message)
}

/** The same for a card as it stands: one that has expired, or whose work is accepted no longer, hands nothing over. */
export async function handCard(engine: Pick<Engine, 'parts' | 'task'>, row: InboxRow, folder: string): Promise<Result<SnapshotFile[]>> {
  const over = await whyHandsNothing(engine, row)
  if (over === undefined) return exportCard(engine.parts, row, folder)
  return refused('wrong_status', `the card ${row.card} hands nothing over any more: ${over}`)
}

/** Why a card hands nothing over any more: it is over, or its work, or something that this rests on, is accepted no longer. */
export async function whyHandsNothing(engine: Pick<Engine, 'parts' | 'task'>, row: InboxRow): Promise<string | undefined> {
  const { task } = row
  const said = contradiction(row, task === undefined ? undefined : await engine.task(task))
  if (said !== undefined || task === undefined || !saysAccepted(row)) return said
  return (await groundOf(engine.parts.journal, task)).broken?.why
}

function refused(code: 'not_found' | 'wrong_status', message: string): Result<never> {
  return { ok: false, error: { code, message } }
}
