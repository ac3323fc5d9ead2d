import { lstatSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import type { InputMaterial } from '../../ports/workspace.ts'
import { orFault, WorkspaceFault } from './fault.ts'
import { inputNames } from './names.ts'

const outputFile = 'OUTPUT.txt'

/** Removes a folder, or whatever is in its place, without following a link: it is made to hold the empty snapshot first. */
export async function removeFolder(snapshots: SnapshotStore, empty: Digest, folder: string): Promise<void> {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return
  orFault(await snapshots.restore(empty, folder))
  rmdirSync(folder)
}

/**
 * Puts what the dependencies handed on in `place`. It is built in `staging`, which no worker knows, and moved over as a whole:
 * whatever a worker left in its place, links included, is replaced and never written through.
 */
export async function placeInputs(
  snapshots: SnapshotStore,
  empty: Digest,
  inputs: readonly InputMaterial[],
  staging: string,
  place: string,
): Promise<void> {
  await removeFolder(snapshots, empty, staging)
  await removeFolder(snapshots, empty, place)
  if (inputs.length === 0) return
  mkdirSync(staging, { recursive: true })
  for (const [input, name] of inputNames(inputs)) await placeInput(snapshots, input, join(staging, name))
  renameSync(staging, place)
}

async function placeInput(snapshots: SnapshotStore, input: InputMaterial, folder: string): Promise<void> {
  mkdirSync(folder)
  if (input.content !== null)
    orFault(await snapshots.restore(input.content, await filesFolder(snapshots, input.content, folder), { readOnly: true }))
  const text = input.prefix === '' ? input.output : `${input.prefix}\n${input.output}`
  writeFileSync(join(folder, outputFile), text, { flag: 'wx', mode: 0o444 })
}

/** The input's files lie beside its text, or in `files/` where one of them has the text's name: nobody's file passes for what the runtime says. */
async function filesFolder(snapshots: SnapshotStore, content: Digest, folder: string): Promise<string> {
  const manifest = await snapshots.manifest(content)
  if (!manifest) throw new WorkspaceFault('not_found', `there is no snapshot ${content}`)
  const taken = manifest.files.some(({ path }) => path.split('/')[0]?.toLowerCase() === outputFile.toLowerCase())
  return taken ? join(folder, 'files') : folder
}
