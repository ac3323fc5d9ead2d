import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Digest } from '../../contract/canonical.ts'
import type { Manifest, SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'
import { errnoOf, FolderChanged, faultOf, problemOf, SnapshotFault } from './fault.ts'
import { sha256Of } from './folder/file.ts'
import { defaultHolding, type HeldRoot, type Holding, holdRoot } from './folder/held.ts'
import { readOne, readTree } from './folder/tree.ts'
import { maxReadTries, type SnapshotLimits, snapshotDefaults } from './limits.ts'
import { readManifest, sealManifest } from './manifest.ts'
import { diskObjects } from './objects/disk.ts'
import { memoryObjects } from './objects/memory.ts'
import type { Objects } from './objects/objects.ts'
import { restoreTree } from './restore.ts'

export interface SnapshotOptions extends Partial<SnapshotLimits> {
  /** Set by tests; otherwise the strongest way that the system has. */
  holding?: Holding
}

/** Snapshots in a folder (`.assay/objects`), shared by any number of processes. */
export function openSnapshotStore(options: SnapshotOptions & { folder: string }): SnapshotStore {
  return storeOver(diskObjects(options.folder), options)
}

/** Snapshots that live as long as the process. */
export function openMemorySnapshotStore(options: SnapshotOptions = {}): SnapshotStore {
  return storeOver(memoryObjects(), options)
}

/** Manifests read lately: a judge reads many files of one snapshot. */
const manifestsKept = 8

function storeOver(objects: Objects, options: SnapshotOptions): SnapshotStore {
  const limits = limitsOf(options)
  const holding = options.holding ?? defaultHolding
  const lookUp = manifestsOf(objects)

  const putBytes = async (bytes: Uint8Array): Promise<Digest> => {
    if (bytes.length > limits.maxFileBytes) {
      throw new SnapshotFault('too_large', `a text of ${bytes.length} bytes is longer than ${limits.maxFileBytes} (limit maxFileBytes)`)
    }
    const hex = sha256Of(bytes)
    await putAll(objects, hex, bytes)
    return `sha256:${hex}`
  }

  return {
    async take(root, ignore = () => false) {
      const doing = `snapshot of ${root}`
      for (let tries = 1; ; tries++) {
        try {
          return { ok: true, manifest: await takeOnce(objects, limits, holding, root, ignore) }
        } catch (error) {
          if (!(error instanceof FolderChanged) || tries === maxReadTries) return { ok: false, problem: problemOf(error, doing) }
          await delay(10 * 2 ** tries)
        }
      }
    },
    async manifest(digest) {
      const found = await lookUp(digest)
      return found && copyOf(found.manifest)
    },
    async read(digest, path) {
      const file = (await lookUp(digest))?.byPath.get(path)
      if (!file) return undefined
      const bytes = await load(objects, file.digest)
      if (!bytes) throw missing(file)
      return bytes
    },
    async pour(digest, path, into) {
      const file = (await lookUp(digest))?.byPath.get(path)
      if (!file) return false
      if (await objects.pour(file.digest.slice('sha256:'.length), into)) return true
      throw missing(file)
    },
    async restore(digest, folder, restoreOptions = {}) {
      try {
        const found = await lookUp(digest)
        if (!found) return { ok: false, problem: { code: 'not_found', message: `there is no snapshot ${digest}` } }
        await restoreTree(found.manifest, objects, folder, restoreOptions, holding)
        return { ok: true }
      } catch (error) {
        return { ok: false, problem: problemOf(error, `restoring ${digest} to ${folder}`) }
      }
    },
    putText: (text) => putBytes(Buffer.from(text)),
    putBytes,
    getBytes: (digest) => load(objects, digest),
    putFile: (path, maxBytes) => takeFile(objects, holding, path, maxBytes),
    compose: (files, refused = []) => compose(objects, files, refused),
    async getText(digest) {
      const bytes = await load(objects, digest)
      return bytes && Buffer.from(bytes).toString()
    },
  }
}

interface KeptManifest {
  manifest: Manifest
  byPath: Map<string, SnapshotFile>
}

function manifestsOf(objects: Objects): (digest: Digest) => Promise<KeptManifest | undefined> {
  const lately = new Map<Digest, KeptManifest>()
  return async (digest) => {
    const known = lately.get(digest)
    if (known) return known
    const bytes = await load(objects, digest)
    const manifest = bytes && readManifest(digest, bytes)
    if (!manifest) return undefined
    const found = { manifest, byPath: new Map(manifest.files.map((file) => [file.path, file])) }
    lately.set(digest, found)
    for (const oldest of lately.keys()) {
      if (lately.size <= manifestsKept) break
      lately.delete(oldest)
    }
    return found
  }
}

function limitsOf(options: SnapshotOptions): SnapshotLimits {
  return {
    maxFileBytes: options.maxFileBytes ?? snapshotDefaults.maxFileBytes,
    maxTotalBytes: options.maxTotalBytes ?? snapshotDefaults.maxTotalBytes,
    maxFiles: options.maxFiles ?? snapshotDefaults.maxFiles,
  }
}

function missing({ digest, path }: SnapshotFile): SnapshotFault {
  return new SnapshotFault('not_found', `object ${digest} of ${JSON.stringify(path)} is not in the store`)
}

/** The caller's own: what the store looks up in stays as it was verified. */
function copyOf({ digest, files, refused }: Manifest): Manifest {
  return { digest, files: files.map((file) => ({ ...file })), refused: refused.map((entry) => ({ ...entry })) }
}

/** A digest names a file, so only a well-formed one is looked up. */
async function load(objects: Objects, digest: Digest): Promise<Uint8Array | undefined> {
  if (!Digest.safeParse(digest).success) return undefined
  return objects.load(digest.slice('sha256:'.length))
}

/** Every file must be stored already: nothing else could make the snapshot whole. */
async function compose(objects: Objects, files: readonly SnapshotFile[], refused: Manifest['refused']): Promise<Digest> {
  const batch = objects.begin()
  try {
    const absent = files.find(({ digest, size }) => !batch.has(digest.slice('sha256:'.length), size))
    if (absent) throw missing(absent)
  } finally {
    await batch.settle()
  }
  const { hex, bytes } = sealManifest({ files: [...files], refused })
  await putAll(objects, hex, bytes)
  return `sha256:${hex}`
}

async function putAll(objects: Objects, hex: string, bytes: Uint8Array): Promise<void> {
  const batch = objects.begin()
  try {
    if (!batch.has(hex, bytes.length)) await batch.put(hex, bytes)
    await batch.commit()
  } catch (error) {
    throw faultOf(error, `object sha256:${hex}`)
  } finally {
    await batch.settle()
  }
}

/** The manifest is stored last: where it is, everything that it names is. */
async function takeOnce(
  objects: Objects,
  limits: SnapshotLimits,
  holding: Holding,
  folder: string,
  ignore: (path: string) => boolean,
): Promise<Manifest> {
  const root = openRoot(folder, holding)
  const batch = objects.begin()
  try {
    const { manifest, hex, bytes } = sealManifest(await readTree(root, batch, limits, ignore))
    await batch.commit()
    await putAll(objects, hex, bytes)
    return manifest
  } finally {
    await batch.settle()
    root.release()
  }
}

async function takeFile(objects: Objects, holding: Holding, path: string, maxBytes: number): ReturnType<SnapshotStore['putFile']> {
  const batch = objects.begin()
  let root: HeldRoot | undefined
  try {
    root = openRoot(realpathSync.native(dirname(path)), holding)
    const file = await readOne(root, basename(path), batch, maxBytes)
    await batch.commit()
    return { ok: true, file }
  } catch (error) {
    return { ok: false, problem: problemOf(error, `reading ${path}`) }
  } finally {
    await batch.settle()
    root?.release()
  }
}

function openRoot(folder: string, holding: Holding): HeldRoot {
  try {
    return holdRoot(folder, holding)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') throw new SnapshotFault('not_found', `there is no folder ${folder}`, { cause: error })
    if (errno === 'ELOOP' || errno === 'ENOTDIR')
      throw new SnapshotFault('io', `${folder} is no folder, or a link to one`, { cause: error })
    throw error
  }
}
