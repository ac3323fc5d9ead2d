import { lstat, readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { isIgnored } from '../../adapters/workspace/ignored.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { SubjectRequest, Subject } from '../../doors/cli/app.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'

/** Largest file, page or text that is taken as a subject. */
const maxBytes = 32 * 1024 * 1024
const pageMs = 60_000

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
  if (stat.size > maxBytes) return refused(what, `the file has ${stat.size} bytes; at most ${maxBytes} are reviewed`)
  return ofBytes(snapshots, 'file', what, await readFile(path))
}

async function ofBytes(
  snapshots: SnapshotStore,
  kind: Subject['kind'],
  name: string,
  bytes: Uint8Array,
): Promise<Result<Subject, Problem[]>> {
  if (bytes.length === 0) return refused(name, 'it is empty: there is nothing to review')
  if (bytes.length > maxBytes) return refused(name, `it has ${bytes.length} bytes; at most ${maxBytes} are reviewed`)
  const file: SnapshotFile = { path: fileName(kind, name), size: bytes.length, digest: await snapshots.putBytes(bytes), executable: false }
  const snapshot = await snapshots.compose([file])
  return { ok: true, value: { kind, name, snapshot, base: await snapshots.compose([]), digest: file.digest } }
}

function fileName(kind: Subject['kind'], name: string): string {
  if (kind === 'text') return 'text.txt'
  if (kind === 'url') return 'page.html'
  return basename(name) || 'file'
}

async function ofFolder(snapshots: SnapshotStore, name: string, path: string): Promise<Result<Subject, Problem[]>> {
  const taken = await snapshots.take(path, (inner) => isIgnored(inner, { workspace: { kind: 'folder', path } }))
  if (!taken.ok) return refused(name, taken.problem.message)
  const { digest, files } = taken.manifest
  if (files.length === 0) return refused(name, 'there is no file in it: there is nothing to review')
  return { ok: true, value: { kind: 'folder', name, snapshot: digest, base: await snapshots.compose([]), digest } }
}

async function ofPage(snapshots: SnapshotStore, url: string, allowPrivate: boolean): Promise<Result<Subject, Problem[]>> {
  const { guardedFetch } = await import('../../adapters/checks/net/guarded-fetch.ts')
  const fetched = await guardedFetch(url, { timeoutMs: pageMs, redirects: 5, allowPrivate, maxBytes }, new AbortController().signal)
  if (!fetched.ok)
    return refused(url, fetched.message, fetched.code === 'address_refused' ? 'give --allow-private if you mean it' : undefined)
  if (fetched.status !== 200) return refused(url, `the server answers ${fetched.status}`)
  return ofBytes(snapshots, 'url', url, fetched.body)
}

function refused(file: string, message: string, fix?: string): { ok: false; error: Problem[] } {
  return { ok: false, error: [{ file, path: '', message, ...(fix !== undefined && { fix }) }] }
}
