import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../../contract/canonical.ts'
import type { Manifest } from '../../../../ports/snapshots.ts'
import { changesOf, fitChanges, isUnfit } from './changes.ts'

function manifest(files: Record<string, string>, refused: string[] = []): Manifest {
  return {
    digest: digestOf([files, refused]),
    files: Object.entries(files).map(([path, text]) => ({ path, size: 1, digest: digestOf(text), executable: text.endsWith('*') })),
    refused: refused.map((path) => ({ path, why: 'symbolic link' })),
  }
}

const changed = (before: Manifest, after: Manifest) => {
  const { put, removed } = changesOf(before, after)
  return { put: put.map((file) => file.path), removed }
}

describe('what changed between two snapshots', () => {
  it('is what is new, other or gone', () => {
    const before = manifest({ same: 's', other: 'o', gone: 'g', bit: 'b' })
    expect(changed(before, manifest({ same: 's', other: 'O', bit: 'b*', new: 'n' }))).toEqual({
      put: ['other', 'bit', 'new'],
      removed: ['gone'],
    })
    expect(changed(before, before)).toEqual({ put: [], removed: [] })
  })

  it('is nothing where the new one has what is no plain file in its place or around it', () => {
    const before = manifest({ a: 'a', 'd/x': 'x', 'd/deep/y': 'y', ab: 'ab', 'e/z': 'z' })
    expect(changed(before, manifest({}, ['a', 'd']))).toEqual({ put: [], removed: ['ab', 'e/z'] })
  })

  it('is a change where a file becomes a folder, a folder a file, or a link a file', () => {
    expect(changed(manifest({ a: 'a', 'd/x': 'x' }, ['l']), manifest({ 'a/b': 'b', d: 'd', l: 'l' }))).toEqual({
      put: ['a/b', 'd', 'l'],
      removed: ['a', 'd/x'],
    })
  })
})

describe('names that git does not keep', () => {
  it.each(['.GIT/config', 'a/git~1', '.git.', '.git ', 'x/.Git . /y', '.g\u200cit/hooks/x', '.git:stream', 'a\\.git\\x'])('%j', (path) => {
    expect(isUnfit(path)).toBe(true)
  })
  it.each(['.gitignore', 'git', 'git~2', '.github/x', 'x.git', '-rf', '$(touch x)', 'a\nb', 'é'])('but %j it does', (path) => {
    expect(isUnfit(path)).toBe(false)
  })
  it('are left out of changes that are only to be carried over', () => {
    const { put } = changesOf(manifest({}), manifest({ 'a/.GIT': 'x', b: 'b' }))
    expect(fitChanges({ put, removed: ['git~1', 'c'] })).toEqual({ put: [put[1]], removed: ['c'] })
  })
})
