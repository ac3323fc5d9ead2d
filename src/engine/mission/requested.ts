import { canonicalJson, sha256Hex } from '../../contract/canonical.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Journal, StreamAppend } from '../../ports/journal.ts'
import { keyStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'

/** A request that has a name: asked for again under it, it leads to the run that it led to first, whatever became of that. */
export interface NamedRequest {
  key: string
  /** Digest of what is asked for, in the words of whoever asks: the configuration may change, the request does not. */
  asked: string
}

export function namedRequest(key: string, asks: unknown): NamedRequest {
  return { key, asked: sha256Hex(canonicalJson(asks)) }
}

/** The run that a request led to, or that its name stands for another request; undefined where the name was never used. */
export async function requestedRun(
  journal: Pick<Journal, 'readStream'>,
  { key, asked }: NamedRequest,
): Promise<{ mission: string; same: boolean } | undefined> {
  const [used] = await journal.readStream(keyStream(key))
  if (!used) return undefined
  const { mission, asked: before } = used.data as EventData<'key.used'>
  return { mission, same: before === asked }
}

/** Written with whatever the request leads to: of two requests under one name, one finds it used. */
export function usesKey(request: NamedRequest | undefined, mission: string): StreamAppend[] {
  if (!request) return []
  return [{ stream: keyStream(request.key), expected: 0, events: [asNew({ type: 'key.used', data: { ...request, mission } })] }]
}
