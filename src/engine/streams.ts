import { sha256Hex } from '../contract/canonical.ts'

/** Names of streams. One place, so that readers and writers cannot differ. */
/** Whose word counts here. */
export const ownerStream = 'owner'
export const taskStream = (task: string): string => `task/${task}`
/** Gates have streams of their own: many may be looked at at once. */
export const gateStream = (mission: string, gate: string): string => `gate/${mission}/${gate}`
/** What was said of a deadline; `entity` is `task:<id>` or `mission:<id>`. */
export const slaStream = (entity: string): string => `sla/${entity}`
export function slaEntity(stream: string): string | undefined {
  return stream.startsWith('sla/') ? stream.slice('sla/'.length) : undefined
}
export const missionStream = (mission: string): string => `mission/${mission}`
/** What a request under a name led to. */
export const keyStream = (key: string): string => `key/${key}`
/** Who works in a shared folder; keyed by digest because paths may hold anything. */
export const folderStream = (folder: string): string => `folder/${sha256Hex(folder).slice(0, 32)}`
/** Every taking of a shared folder: of two that lie in each other, one finds this stream changed. */
export const foldersStream = 'folders'

export const deliverableStream = (deliverable: string): string => `deliverable/${deliverable}`
export const cardStream = (card: string): string => `card/${card}`
/** Looks of the gate at cards that name no deliverable it knows. */
export const refusalStream = 'refused-cards'

export function taskOf(stream: string): string | undefined {
  return stream.startsWith('task/') ? stream.slice('task/'.length) : undefined
}

/** The mission that an event of this stream belongs to: its own stream, or that of one of its tasks. */
export function missionOf(stream: string): string | undefined {
  if (stream.startsWith('mission/')) return stream.slice('mission/'.length)
  if (stream.startsWith('gate/') || stream.startsWith('notify/')) return stream.split('/')[1]
  return (slaEntity(stream)?.replace(/^(task|mission):/, '') ?? taskOf(stream))?.split('/')[0]
}
