import type { Digest } from '../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'

/** Manifests and lock files that are read, at most. */
const mostFiles = 500

const lists = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const
const textLocks = new Set(['yarn.lock', 'pnpm-lock.yaml', 'bun.lock'])

interface Declared {
  /** Names in any package.json. */
  names: Set<string>
  /** Paths in any lock file of npm, and names of programs that those packages bring. */
  paths: Set<string>
  programs: Set<string>
  /** Lock files of others, as they stand. */
  locks: string
}

/**
 * Tells which installed packages the files of a snapshot declare: by name in a package.json, by path or name in a lock file. What is declared is part of
 * what judges see.
 */
export async function declaredIn(snapshots: SnapshotStore, snapshot: Digest): Promise<(path: string) => boolean> {
  const declared: Declared = { names: new Set(), paths: new Set(), programs: new Set(), locks: '' }
  const files = (await snapshots.manifest(snapshot))?.files ?? []
  const wanted = files.filter(({ path }) => isManifest(nameOf(path))).slice(0, mostFiles)
  for (const { path } of wanted) {
    const bytes = await snapshots.read(snapshot, path)
    if (bytes) note(declared, path, new TextDecoder().decode(bytes))
  }
  return (path) => isDeclared(declared, path)
}

function isManifest(name: string): boolean {
  return name === 'package.json' || name === 'package-lock.json' || name === 'npm-shrinkwrap.json' || textLocks.has(name)
}

function note(declared: Declared, path: string, text: string): void {
  const name = nameOf(path)
  if (textLocks.has(name)) {
    declared.locks += `\n${text}`
    return
  }
  const file = record(parsed(text))
  if (name === 'package.json') {
    for (const list of lists) for (const one of Object.keys(record(file[list]))) declared.names.add(one)
    return
  }
  const folder = path.slice(0, -name.length)
  for (const [place, entry] of Object.entries(record(file.packages))) {
    declared.paths.add(folder + place)
    for (const program of Object.keys(record(record(entry).bin))) declared.programs.add(program)
  }
}

function isDeclared({ names, paths, programs, locks }: Declared, path: string): boolean {
  const inner = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  if (inner.startsWith('.bin/')) return programs.has(inner.slice('.bin/'.length)) || names.has(inner.slice('.bin/'.length))
  // pnpm keeps every version in a folder of its own, `name@1.0.0`, with `+` for the slash of a scope.
  if (inner.startsWith('.pnpm/'))
    return inLocks(
      locks,
      inner
        .slice('.pnpm/'.length)
        .replace(/(?<=.)@.*/, '')
        .replace('+', '/'),
    )
  return names.has(inner) || paths.has(path) || inLocks(locks, inner)
}

function inLocks(locks: string, name: string): boolean {
  return locks.includes(`${name}@`)
}

/** A file that is no JSON declares nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
