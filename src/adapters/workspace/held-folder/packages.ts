import { join } from 'node:path'
import { type Digest, sha256Hex } from '../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'
import { WorkspaceFault } from '../fault.ts'
import { type Before, comparePackages } from './compare.ts'
import { lookAtInstalled, tooMany } from './installed.ts'
import { readPackages } from './package-content.ts'
import { folderKey, isProgram, programKey } from './programs.ts'
import { type Packages, readKnown, readSuspects, suspectsEnding, writeKnown, writeSuspects } from './record.ts'

/** Packages when a task took the folder, as its record names them. */
export interface NotedPackages {
  installed?: Digest | undefined
  contents?: Digest | undefined
  suspect?: Packages | undefined
}

/** The same as it is written down. */
export interface PackageNote {
  installed: Digest
  contents: Digest
  suspect: Packages
}

/** What is installed in a shared folder. It is in no snapshot: how it stood is noted when a task takes the folder, and what is not so any more is suspect. */
export class InstalledPackages {
  readonly #root: string
  readonly #snapshots: SnapshotStore
  readonly #records: string

  constructor({ folder, snapshots }: { folder: string; snapshots: SnapshotStore }, root: string) {
    this.#root = root
    this.#snapshots = snapshots
    this.#records = join(folder, sha256Hex(root))
  }

  /** How packages stand now, for the record of whoever takes the folder; `whoever`: as they are, whoever left them so. */
  async note({ whoever = false }: { whoever?: boolean } = {}): Promise<PackageNote> {
    const now = await lookAtInstalled(this.#root)
    const { packages, trusted } = whoever ? { packages: {}, trusted: {} as Packages } : readSuspects(this.#suspectsFile, this.#root)
    const suspect = Object.fromEntries(Object.entries(packages).filter(([path, stands]) => now[path] === stands))
    const contents = await this.#contents(now)
    for (const path of Object.keys(suspect)) contents[path] = trusted[path] ?? ''
    const [installed, kept] = await Promise.all([now, contents].map((one) => this.#snapshots.putText(JSON.stringify(one))))
    return { installed: installed as Digest, contents: kept as Digest, suspect }
  }

  /** What is not as it was noted, or was left behind by work that was not accepted. */
  async changes(noted: NotedPackages): Promise<PackageChanges> {
    const now = await lookAtInstalled(this.#root)
    return comparePackages(this.#root, await this.#before(noted, now), now)
  }

  /** Remembers packages and programs for whoever comes next, as they stand now and as they were: nothing that was accepted makes them trusted. */
  async suspect(noted: NotedPackages, paths: readonly string[], programs: readonly string[] = []): Promise<void> {
    const known = readSuspects(this.#suspectsFile, this.#root)
    const packages: Packages = {}
    const trusted: Packages = {}
    const keys = [...paths, ...programs.map(programKey)]
    const left = Object.keys(known.packages).filter(isProgram)
    if (keys.length + left.length > 0) {
      const now = await lookAtInstalled(this.#root)
      const { contents } = await this.#before(noted, now)
      for (const path of keys) {
        const stands = now[path]
        if (path === tooMany || stands === undefined) continue
        packages[path] = stands
        trusted[path] = contents[path] ?? ''
      }
      for (const path of left) {
        const stood = known.packages[path] as string
        // In folders that are not in this process's PATH nobody has looked: what is known of programs there stays.
        if (path in packages || (folderKey(path) in now && now[path] !== stood)) continue
        packages[path] = stood
        trusted[path] = known.trusted[path] ?? ''
      }
    }
    writeSuspects(this.#suspectsFile, this.#root, { packages, trusted })
  }

  get #suspectsFile(): string {
    return `${this.#records}${suspectsEnding}`
  }

  async #before({ installed, contents, suspect }: NotedPackages, now: Packages): Promise<Before> {
    const known = readSuspects(this.#suspectsFile, this.#root)
    if (installed === undefined) return { installed: now, contents: known.trusted, suspect: known.packages }
    return {
      installed: await this.#stored(installed),
      contents: contents === undefined ? {} : await this.#stored(contents),
      suspect: suspect ?? {},
    }
  }

  async #stored(digest: Digest): Promise<Packages> {
    const text = await this.#snapshots.getText(digest)
    if (text === undefined) throw new WorkspaceFault('not_found', `what was installed is not in the store: ${digest}`)
    return JSON.parse(text) as Packages
  }

  async #contents(now: Packages): Promise<Packages> {
    if (Object.keys(now).length === 0) return {}
    const file = `${this.#records}.packages`
    const known = readKnown(file, this.#root)
    const contents = await readPackages(this.#root, now, known)
    const keyed = Object.fromEntries(Object.entries(contents).map(([path, content]) => [`${path}\0${now[path]}`, content]))
    if (Object.keys(keyed).some((key) => !(key in known))) writeKnown(file, this.#root, keyed)
    return contents
  }
}
