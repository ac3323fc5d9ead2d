import type { Digest } from '../../../contract/canonical.ts'
import type { SnapshotFile, SnapshotStore } from '../../../ports/snapshots.ts'
import { refuse, type Refused } from '../answer/problem.ts'

interface Sent {
  text?: string | undefined
  files?: readonly { path: string; text?: string | undefined; base64?: string | undefined }[] | undefined
}

export interface Stored {
  kind: 'text' | 'file' | 'folder'
  snapshot: Digest
  base: Digest
  /** Identity of the bytes alone. */
  digest: Digest
}

/** Takes what came with a request into the store. Paths are relative, plain and told apart; anything else is refused. */
export async function storeSent(snapshots: SnapshotStore, { text, files }: Sent): Promise<Stored | Refused> {
  if ((text === undefined) === (files === undefined)) return refuse('invalid_request', 'send either `text` or `files`')
  const sent = files ?? [{ path: 'text.txt', text }]
  const stored: SnapshotFile[] = []
  const seen = new Set<string>()
  for (const file of sent) {
    const bytes = bytesOf(file)
    if (!bytes) return refuse('invalid_request', `${file.path}: send either \`text\` or \`base64\``)
    if (!isPlain(file.path)) return refuse('invalid_request', `${file.path} is no plain relative path`)
    if (seen.has(file.path)) return refuse('invalid_request', `${file.path} came twice`)
    seen.add(file.path)
    stored.push({ path: file.path, size: bytes.length, digest: await snapshots.putBytes(bytes), executable: false })
  }
  const [only] = stored
  if (stored.every(({ size }) => size === 0)) return refuse('invalid_request', 'it is empty: there is nothing to review')
  const snapshot = await snapshots.compose(stored)
  const base = await snapshots.compose([])
  const kind = text !== undefined ? 'text' : stored.length === 1 ? 'file' : 'folder'
  return { kind, snapshot, base, digest: stored.length === 1 && only ? only.digest : snapshot }
}

function bytesOf({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Uint8Array | undefined {
  if ((text === undefined) === (base64 === undefined)) return undefined
  return text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
}

function isPlain(path: string): boolean {
  const steps = path.split('/')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are what is refused
  return !/[\\\u0000-\u001f]/.test(path) && steps.every((step) => step !== '' && step !== '.' && step !== '..')
}
