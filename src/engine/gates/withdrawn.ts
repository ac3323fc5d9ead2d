import type { EventData } from '../../contract/events/manifest.ts'
import type { Journal } from '../../ports/journal.ts'
import { gateStream } from '../streams.ts'

/** Why a gate's question is asked no longer although nobody answered it; undefined for any other question. */
export async function whyWithdrawn(journal: Pick<Journal, 'readStream'>, request: string): Promise<string | undefined> {
  const [, mission, gate] = /^([^/]+)\/gate:(.+)#\d+$/s.exec(request) ?? []
  if (mission === undefined || gate === undefined) return undefined
  const events = await journal.readStream(gateStream(mission, gate))
  const asked = events.findIndex(({ type, data }) => type === 'operator.requested' && (data as { request: string }).request === request)
  const ended = asked < 0 ? undefined : events.slice(asked + 1).find(({ type }) => type === 'operator.answered' || type === 'gate.reopened')
  if (ended?.type !== 'gate.reopened') return undefined
  const { task } = ended.data as EventData<'gate.reopened'>
  return `the question ${request} was withdrawn: ${task}, which the gate ${gate} looks at, has moved since. Once all that it looks at has ended, the gate looks again, and asks anew where it does not pass`
}
