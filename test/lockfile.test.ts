import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface LockedPackage {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}
const read = (file: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, '..', file), 'utf8'))
const lock = read('package-lock.json') as { packages: Record<string, LockedPackage> }
const manifest = read('package.json') as Record<string, Record<string, string> | undefined>
const locked = Object.entries(lock.packages).filter(([path, entry]) => path.includes('node_modules/') && !entry.link)

/** Where npm would find a dependency of the package at `path`: in its own node_modules, or in one above. */
function find(path: string, name: string): LockedPackage | undefined {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const found = lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]
    if (found || at === '') return found
  }
}

describe('the lockfile', () => {
  it('was read', () => {
    expect(locked.length).toBeGreaterThan(50)
  })

  it('names no address to fetch from: whoever installs uses their own registry', () => {
    expect(locked.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([])
  })

  it('pins every package by an exact version and its integrity', () => {
    const loose = locked.filter(([, entry]) => !/^\d+\.\d+\.\d+/.test(entry.version ?? '') || !entry.integrity?.startsWith('sha512-'))
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('has the package of every platform, not only of the one it was written on', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !find(path, name))
        .map((name) => `${path || 'the project'} → ${name}`),
    )
    expect(missing).toEqual([])
    expect(Object.keys(lock.packages['']?.optionalDependencies ?? {})).toHaveLength(6)
  })

  it.each(['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'])('is asked for exact versions in %s', (group) => {
    const wanted = Object.entries(manifest[group] ?? {})
    expect(wanted.length).toBeGreaterThan(0)
    expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
    if (group !== 'overrides') expect(wanted.filter(([name, version]) => find('', name)?.version !== version)).toEqual([])
  })
})
