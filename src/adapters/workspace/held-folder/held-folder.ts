import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import type { OpenWorkspace, PackageChanges, SettledFolder } from '../../../ports/workspace.ts'
import { readBase, writeBase } from '../base-record.ts'
import { orFault, WorkspaceFault } from '../fault.ts'
import { isIgnored } from '../ignored.ts'
import { sharedFolder } from '../lineage.ts'
import { safeName } from '../names.ts'
import { Beside, changedGit, lookBeside } from './beside.ts'
import { lookClosely } from './installed.ts'
import { InstalledPackages, type PackageNote } from './packages.ts'
import { differing, touching } from './paths.ts'
import { putBeside } from './put-beside.ts'
import { type Aside, type Held, type Packages, readShared, writeShared } from './record.ts'

/** Paths that are named one by one. */
const mostNamed = 100

export interface SharedOptions {
  /** Where records live. */
  folder: string
  projectRoot: string
  snapshots: SnapshotStore
}

/**
 * Folders that tasks share, one after the other. A task finds the folder as accepted work and the user left it: what work changed that was not accepted
 * is put back before the folder is another's, and brought back when the task goes on or is accepted after all. Every step may be repeated after a crash.
 */
export class SharedFolders {
  readonly #options: SharedOptions

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /** The folder as the task works in it. Where it has just taken it, what is there now is noted. */
  async open(task: TaskSpec): Promise<OpenWorkspace> {
    const path = this.pathOf(task)
    mkdirSync(path, { recursive: true })
    const record = this.#read(task)
    if (record?.state === 'held') return { path, base: this.#base(task, record.found) }
    if (record?.state === 'aside') return { path, base: await this.#bringBack(task, record) }
    const { digest: found } = await this.#take(task)
    await this.#hold(task, found)
    return { path, base: this.#base(task, found) }
  }

  /** What becomes of the folder before it is released. `left` is the work as it was handed in, where nobody worked on it since. */
  async settle(task: TaskSpec, outcome: 'keep' | 'put_back', left?: Digest): Promise<SettledFolder> {
    const record = this.#read(task)
    if (record === undefined || record.state === 'kept') return {}
    if (outcome === 'put_back') {
      const aside = record.state === 'aside' ? record : await this.#setAside(task, record, left)
      await this.#replace(task, aside, aside.onto ?? aside.from)
      await this.#putBeside(task, aside.beside)
      return {}
    }
    const { changed, replaced, programs } = await this.meddled(task)
    if (record.state === 'aside') await this.#replace(task, { ...record, left: left ?? record.left }, left ?? record.content)
    const since = record.state === 'held' && left !== undefined ? await this.#correct(task, record.found, left) : undefined
    // Nobody has seen what is in them: the work may be accepted, they are not.
    await this.#packages(task).suspect(record, [...changed, ...replaced], programs)
    writeShared(this.#file(task), { version: 1, task: task.id, state: 'kept' })
    return since ? { changed: since } : {}
  }

  isAside(task: TaskSpec): boolean {
    return this.#read(task)?.state === 'aside'
  }

  /** Installed packages that are not as they were when the task took the folder, or that work which was not accepted has left behind. */
  async meddled(task: TaskSpec): Promise<PackageChanges> {
    const record = this.#read(task)
    return this.#packages(task).changes(record === undefined || record.state === 'kept' ? {} : record)
  }

  /** How its packages stand, folders among them: whoever takes one away and puts it back leaves a trace. */
  standing(task: TaskSpec): Promise<Packages> {
    return lookClosely(this.pathOf(task))
  }

  /** What was there before the task's work, while that is in the folder or on its way into it or out of it. */
  found(task: TaskSpec): Digest | undefined {
    const record = this.#read(task)
    if (record?.state === 'held') return record.found
    return record?.state === 'aside' ? (record.onto ?? record.from) : undefined
  }

  /** Version control in the folder, at any depth, that is not as it was when the task took it: nobody reviews what git would run. */
  async tampered(task: TaskSpec): Promise<string[]> {
    const record = this.#read(task)
    if (record?.state !== 'held' || record.beside === undefined) return []
    return changedGit(await this.#beside(record.beside), await lookBeside(this.pathOf(task)))
  }

  pathOf(task: TaskSpec): string {
    if (task.workspace.kind !== 'folder') throw new Error(`task ${task.id} shares no folder`)
    return sharedFolder(this.#options.projectRoot, task.workspace.path)
  }

  #read(task: TaskSpec) {
    return readShared(this.#file(task), task.id)
  }

  #file(task: TaskSpec): string {
    return join(this.#options.folder, `${safeName(task.id)}.shared`)
  }

  #packages(task: TaskSpec): InstalledPackages {
    return new InstalledPackages(this.#options, this.pathOf(task))
  }

  /** What the change is measured against: what the folder held when the task first took it, or last took it again. */
  #base(task: TaskSpec, found: Digest): Digest {
    const file = join(this.#options.folder, `${safeName(task.id)}.base`)
    const known = readBase(file, task.id)
    if (known === undefined) writeBase(file, task.id, found)
    return known ?? found
  }

  async #take(task: TaskSpec): Promise<Manifest> {
    return orFault(await this.#options.snapshots.take(this.pathOf(task), (path) => isIgnored(path, task))).manifest
  }

  /** From here on the task has the folder, as it was found. */
  async #hold(task: TaskSpec, found: Digest, noted?: PackageNote): Promise<void> {
    const packages = noted ?? (await this.#packages(task).note())
    const beside = await this.#options.snapshots.putText(JSON.stringify(await lookBeside(this.pathOf(task))))
    writeShared(this.#file(task), { version: 1, task: task.id, state: 'held', found, ...packages, beside })
  }

  async #beside(digest: Digest): Promise<Beside> {
    const text = await this.#options.snapshots.getText(digest)
    if (text === undefined) throw new WorkspaceFault('not_found', `what lay beside the work is not in the store: ${digest}`)
    return Beside.parse(JSON.parse(text))
  }

  async #putBeside(task: TaskSpec, beside: Digest | undefined): Promise<void> {
    if (beside === undefined) return
    const path = this.pathOf(task)
    const removed = join(this.#options.folder, `${safeName(task.id)}.removed`)
    await putBeside(path, await this.#beside(beside), removed)
  }

  /** Keeps the task's work; what it installed cannot be put back and is remembered for whoever comes next. */
  async #setAside(task: TaskSpec, held: Held, left: Digest | undefined): Promise<Aside> {
    const { digest: content } = await this.#take(task)
    const { changed, replaced, added, programs = [] } = await this.meddled(task)
    const meddled = [...changed, ...replaced, ...added]
    if (meddled.length + programs.length > 0) await this.#packages(task).suspect(held, meddled, programs)
    const { installed, contents, suspect, beside } = held
    const aside: Aside = {
      ...{ version: 1, task: task.id, state: 'aside', content, left: left ?? content, from: held.found },
      ...{ installed, suspect, ...(contents !== undefined && { contents }), ...(beside !== undefined && { beside }) },
    }
    writeShared(this.#file(task), aside)
    return aside
  }

  /** Puts the task's own work on top of what others have made of the folder since; its change is measured against that from here on. */
  async #bringBack(task: TaskSpec, aside: Aside): Promise<Digest> {
    const onto = aside.onto ?? (await this.#take(task)).digest
    const { installed, contents, suspect } = aside
    // Before its work is there again: a program among that work is no more the task's to use than when it was written.
    const known = aside.onto !== undefined && installed && contents && suspect
    const noted = known ? { installed, contents, suspect } : await this.#packages(task).note()
    writeShared(this.#file(task), { ...aside, ...noted, onto })
    await this.#replace(task, aside, aside.content)
    writeBase(join(this.#options.folder, `${safeName(task.id)}.base`), task.id, onto)
    await this.#hold(task, onto, noted)
    return onto
  }

  /** What was accepted is what lies there: whatever became of the work since it was handed in is kept elsewhere. What is not the work may be the user's. */
  async #correct(task: TaskSpec, found: Digest, accepted: Digest): Promise<SettledFolder['changed']> {
    const { snapshots, folder } = this.#options
    const now = await this.#take(task)
    if (now.digest === accepted) return undefined
    const [before, then] = await Promise.all([snapshots.manifest(found), snapshots.manifest(accepted)])
    if (!before || !then) throw new WorkspaceFault('not_found', `there is no snapshot ${before ? accepted : found}`)
    const work = touching(differing(before, then))
    const changed = [...differing(then, now)].sort()
    const corrected = new Set(changed.filter(work))
    const others = changed.filter((path) => !corrected.has(path)).slice(0, mostNamed)
    if (corrected.size === 0) return { corrected: [], others }
    const kept = freePlace(join(folder, `${safeName(task.id)}.changed`))
    orFault(await snapshots.restore(await snapshots.compose(now.files.filter(({ path }) => corrected.has(path))), kept))
    const own = touching(corrected)
    orFault(await snapshots.restore(accepted, this.pathOf(task), { keep: (path) => isIgnored(path, task) || !own(path) }))
    return { corrected: [...corrected].slice(0, mostNamed), others, kept }
  }

  /** Makes the paths that the task changed what they are in `content`; everything else in the folder stays as it is. */
  async #replace(task: TaskSpec, { from, left }: Aside, content: Digest): Promise<void> {
    const { snapshots } = this.#options
    const [before, after] = await Promise.all([snapshots.manifest(from), snapshots.manifest(left)])
    if (!before || !after) throw new WorkspaceFault('not_found', `there is no snapshot ${before ? left : from}`)
    const own = touching(differing(before, after))
    orFault(await snapshots.restore(content, this.pathOf(task), { keep: (path) => isIgnored(path, task) || !own(path) }))
  }
}

/** Nothing that was kept before is written over. */
function freePlace(path: string): string {
  for (let number = 1; ; number += 1) {
    const place = number === 1 ? path : `${path}-${number}`
    if (!existsSync(place)) return place
  }
}
