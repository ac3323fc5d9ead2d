import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Manifest, SnapshotProblem, SnapshotStore } from '../../ports/snapshots.ts'

/** Path → content; an array is an executable file. */
export type Tree = Record<string, string | Uint8Array | [string | Uint8Array]>

/** A folder that is gone after the test, whatever rights the test took away in it. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-snapshot-')))
  onTestFinished(() => {
    spawnSync('chmod', ['-R', 'u+rwx', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

export function plant(folder: string, tree: Tree): string {
  mkdirSync(folder, { recursive: true })
  for (const [path, content] of Object.entries(tree)) {
    const executable = Array.isArray(content)
    const place = join(folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, executable ? content[0] : content)
    chmodSync(place, executable ? 0o755 : 0o644)
  }
  return folder
}

/** A new folder with these files in it. */
export function planted(tree: Tree): string {
  return plant(tempFolder(), tree)
}

/** What a folder holds, read without the code under test: path → content as hex, `*` for executable. Links and the like show as their kind. */
export function contentsOf(folder: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`
    const stat = lstatSync(join(folder, path))
    if (stat.isDirectory()) Object.assign(found, contentsOf(folder, path))
    else if (stat.isFile()) found[path] = readFileSync(join(folder, path)).toString('hex') + ((stat.mode & 0o100) === 0 ? '' : '*')
    else found[path] = stat.isSymbolicLink() ? 'link' : 'special'
  }
  return found
}

/** The same of a tree that was to be planted. */
export function expectedContents(tree: Tree): Record<string, string> {
  const expected: Record<string, string> = {}
  for (const [path, content] of Object.entries(tree)) {
    expected[path] = Array.isArray(content) ? `${Buffer.from(content[0]).toString('hex')}*` : Buffer.from(content).toString('hex')
  }
  return expected
}

/** Takes and insists on success. */
export async function taken(store: SnapshotStore, folder: string, ignore?: (path: string) => boolean): Promise<Manifest> {
  const answer = await store.take(folder, ignore)
  if (!answer.ok) throw new Error(`the take failed: ${JSON.stringify(answer.problem)}`)
  return answer.manifest
}

export function problemOf(answer: { ok: true } | { ok: false; problem: SnapshotProblem }): SnapshotProblem {
  if (answer.ok) throw new Error('this was to fail')
  return answer.problem
}
