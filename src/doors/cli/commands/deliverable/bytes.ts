import type { Digest } from '../../../../contract/canonical.ts'
import type { Engine } from '../../../../engine/engine.ts'
import { deliverableStream, taskStream } from '../../../../engine/streams.ts'

/** Exactly what a decision covers. */
export interface Bytes {
  digest: string
  size: number
  /** When it was brought. */
  at: string
  words: string
}

/** The latest version of a deliverable; undefined where there is none. */
export async function latestBytes(engine: Engine, deliverable: string): Promise<Bytes | undefined> {
  const events = await engine.parts.journal.readStream(deliverableStream(deliverable))
  const brought = events.findLast(({ type }) => type === 'deliverable.submitted')
  const { digest, snapshot } = (brought?.data ?? {}) as { digest?: string; snapshot?: string }
  return brought && digest !== undefined && snapshot !== undefined ? bytesOf(engine, digest, snapshot, brought.meta.at) : undefined
}

/** The work that a task's decision is about; undefined where none was submitted. */
export async function workBytes(engine: Engine, task: string): Promise<Bytes | undefined> {
  const state = await engine.task(task)
  const digest = state?.done?.content ?? state?.current?.content?.digest
  const content = digest === undefined || digest === null ? undefined : state?.contents[digest]
  if (!content) return undefined
  const submitted = (await engine.parts.journal.readStream(taskStream(task))).findLast(({ type }) => type === 'case.submitted')
  return bytesOf(engine, content.digest, content.snapshot, submitted?.meta.at ?? '')
}

async function bytesOf({ parts }: Engine, digest: string, snapshot: string, at: string): Promise<Bytes> {
  const files = (await parts.snapshots.manifest(snapshot as Digest))?.files ?? []
  const size = files.reduce((sum, file) => sum + file.size, 0)
  const many = files.length === 1 ? 'one file' : `${files.length} files`
  return { digest, size, at, words: `${digest} (${size} bytes, ${many}, brought ${at})` }
}

const shortest = 6

/** Whether the beginning of a digest, with or without its algorithm, names these bytes. */
export function isNamed(bytes: Bytes | undefined, start: string): boolean {
  const wanted = start.replace(/^sha256:/, '')
  return bytes !== undefined && wanted.length >= shortest && bytes.digest.replace(/^sha256:/, '').startsWith(wanted)
}
