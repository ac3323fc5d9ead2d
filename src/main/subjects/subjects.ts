import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isIgnored } from '../../adapters/workspace/ignored.ts'
import { readChange } from '../../contract/deliverable/change.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { SubjectRequest, Subject } from '../../doors/cli/app.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'
import { fetchPage, maxPageBytes } from './page.ts'

/** Largest page or text that is taken as a subject. */
const maxBytes = maxPageBytes
/** Largest file: it is streamed, and judges are told its name and size. */
const maxFileBytes = 5 * 1024 ** 3

/** Takes what is to be reviewed into the snapshot store: from here on nobody looks at the original again. */
export async function readSubject(request: SubjectRequest, engine: Engine): Promise<Result<Subject, Problem[]>> {
  const { snapshots } = engine.parts
  const { cwd, what, diff, stdin } = request
  if (diff !== undefined) {
    const { readDiff } = await import('./diff.ts')
    return readDiff(snapshots, cwd, diff, request.home)
  }
  if (what === '-')
    return stdin === undefined ? refused('-', 'there is nothing on standard input') : ofBytes(snapshots, 'text', 'stdin', stdin)
  if (/^https?:\/\//i.test(what)) return ofPage(snapshots, what, request.allowPrivate)
  const path = resolve(cwd, what)
  const stat = await lstat(path).catch(() => undefined)
  if (stat?.isDirectory()) return ofFolder(snapshots, what, path)
  if (!stat?.isFile()) return refused(what, stat ? 'this is neither a file nor a folder' : 'there is no such file or folder')
  return ofFile(snapshots, what, path)
}

/** The bytes that were read are the bytes that are stored: a file that does not hold still is refused. */
async function ofFile(snapshots: SnapshotStore, name: string, path: string): Promise<Result<Subject, Problem[]>> {
  const taken = await snapshots.putFile(path, maxFileBytes)
  if (!taken.ok) return refused(name, taken.problem.message)
  const { file } = taken
  if (file.size === 0) return refused(name, 'it is empty: there is nothing to review')
  const snapshot = await snapshots.compose([file])
  return { ok: true, value: { kind: 'file', name, snapshot, base: await snapshots.compose([]), digest: file.digest, source: path } }
}

async function ofBytes(
  snapshots: SnapshotStore,
  kind: 'text' | 'url',
  name: string,
  bytes: Uint8Array,
): Promise<Result<Subject, Problem[]>> {
  if (bytes.length === 0) return refused(name, 'it is empty: there is nothing to review')
  if (bytes.length > maxBytes) return refused(name, `it has ${bytes.length} bytes; at most ${maxBytes} are reviewed`)
  const path = kind === 'text' ? 'text.txt' : 'page.html'
  const file: SnapshotFile = { path, size: bytes.length, digest: await snapshots.putBytes(bytes), executable: false }
  const snapshot = await snapshots.compose([file])
  return {
    ok: true,
    value: { kind, name, snapshot, base: await snapshots.compose([]), digest: file.digest, ...(kind === 'url' && { source: name }) },
  }
}

async function ofFolder(snapshots: SnapshotStore, name: string, path: string): Promise<Result<Subject, Problem[]>> {
  const taken = await snapshots.take(path, (inner) => isIgnored(inner, { workspace: { kind: 'folder', path } }))
  if (!taken.ok) return refused(name, taken.problem.message)
  const { digest, files } = taken.manifest
  if (files.length === 0) return refused(name, 'there is no file in it: there is nothing to review')
  return { ok: true, value: { kind: 'folder', name, snapshot: digest, base: await snapshots.compose([]), digest, source: path } }
}

async function ofPage(snapshots: SnapshotStore, url: string, allowPrivate: boolean): Promise<Result<Subject, Problem[]>> {
  const fetched = await fetchPage(url, { allowPrivate })
  if (fetched.ok) return ofBytes(snapshots, 'url', url, fetched.body)
  return refused(url, fetched.message, fetched.code === 'address_refused' ? 'give --allow-private if you mean it' : undefined)
}

function refused(file: string, message: string, fix?: string): { ok: false; error: Problem[] } {
  return { ok: false, error: [{ file, path: '', message, ...(fix !== undefined && { fix }) }] }
}

/**
 * Digest of what lies at a source now, taken the same way as when it was brought. Undefined where that cannot be told (an address answers as it
 * likes); where nothing is left there, a digest that no content has.
 */
export async function digestNow(source: string, engine: Engine): Promise<string | undefined> {
  if (/^https?:\/\//i.test(source)) return undefined
  const change = readChange(source)
  if (change) {
    const { digestOfChange } = await import('./diff.ts')
    return digestOfChange(engine.parts.snapshots, change)
  }
  const request = { cwd: '/', home: '', what: source, diff: undefined, stdin: undefined, allowPrivate: false }
  const taken = await readSubject(request, engine)
  return taken.ok ? taken.value.digest : 'gone'
}
