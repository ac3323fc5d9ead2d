import { sha256Hex } from '../contract/canonical.ts'

/** Names of streams. One place, so that readers and writers cannot differ. */
export const taskStream = (task: string): string => `task/${task}`
export const missionStream = (mission: string): string => `mission/${mission}`
/** Who works in a shared folder; keyed by digest because paths may hold anything. */
export const folderStream = (folder: string): string => `folder/${sha256Hex(folder).slice(0, 32)}`

export function taskOf(stream: string): string | undefined {
  return stream.startsWith('task/') ? stream.slice('task/'.length) : undefined
}

/** The mission that an event of this stream belongs to: its own stream, or that of one of its tasks. */
export function missionOf(stream: string): string | undefined {
  return stream.startsWith('mission/') ? stream.slice('mission/'.length) : taskOf(stream)?.split('/')[0]
}
