import type { Digest } from '../../../contract/canonical.ts'
import type { Engine } from '../../../engine/engine.ts'
import { toolsKnown } from '../../../engine/sessions/beginning.ts'
import type { TakenFolder } from '../folder.ts'
import type { Ignoring } from '../ignoring.ts'
import { noteTools, readTools, type Tools, type ToolPlace, toolsChanged } from './tools.ts'

/**
 * What a session that begins now is held against. Where sessions before knew what judges and checks load, nobody changes that unseen between two of them:
 * what differs is in doubt until it is put back, or the owner accepts it.
 */
export async function toolsToHoldTo(engine: Engine, place: ToolPlace, taken: TakenFolder, ignoring: Ignoring): Promise<Digest> {
  const { snapshots } = place
  const known = await readTools(snapshots, (await toolsKnown(engine)).known as Digest | undefined)
  const found = await noteTools(place, taken.digest, { listed: taken.beside.length > 0, ignoring, whoever: known !== undefined })
  const now = await readTools(snapshots, found)
  if (!known || !now) return found
  const own = { ignoring, ...(now.agents && { agents: now.agents }) }
  const doubt = await toolsChanged(place, { ...known, ...own }, unlisted)
  return doubt === undefined ? found : snapshots.putText(JSON.stringify({ ...known, ...own } satisfies Tools))
}

/** What of the work lies among packages is for the end of the session. */
const unlisted: Pick<TakenFolder, 'beside' | 'isListed'> = { beside: [], isListed: () => false }

/** What the owner accepted, for a session that began with something else or where nobody knows with what; undefined where it does not stand so. */
export async function acceptedTools(
  engine: Engine,
  place: ToolPlace,
  began: Tools | undefined,
  taken: TakenFolder,
): Promise<Tools | undefined> {
  const { accepted } = await toolsKnown(engine)
  const tools = await readTools(place.snapshots, accepted as Digest | undefined)
  if (!tools) return undefined
  const held: Tools = { ...tools, ...(began?.agents && { agents: began.agents }), ...(began?.ignoring && { ignoring: began.ignoring }) }
  return (await toolsChanged(place, held, taken)) === undefined ? held : undefined
}

/** How tools stand that are in doubt, so that the owner can accept them as they are. */
export function doubtedTools(place: ToolPlace, taken: TakenFolder): Promise<Digest> {
  return noteTools(place, taken.digest, { listed: taken.beside.length > 0, ignoring: taken.ignoring, whoever: true })
}
