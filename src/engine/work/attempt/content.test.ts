import { describe, expect, it } from 'vitest'
import { type Digest, digestOf } from '../../../contract/canonical.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import { specWith } from '../../../testing/task/world.ts'
import { contentOf } from './content.ts'

function manifest(files: Record<string, string>, refused: string[] = []): Manifest {
  const entries = Object.entries(files).map(([path, text]) => ({ path, size: text.length, digest: digestOf(text), executable: false }))
  const others = refused.map((path) => ({ path, why: 'symbolic link' }))
  return { digest: digestOf({ entries, others }), files: entries, refused: others }
}

function content(kind: 'worktree' | 'scratch', before: Manifest, after: Manifest, output = '') {
  const store = { manifest: async () => before } as unknown as SnapshotStore
  return contentOf(store, specWith({ workspace: { kind } }), { snapshot: after, base: before.digest as Digest, output })
}

describe('what a submission amounts to', () => {
  const base = manifest({ a: '1', 'd/b': '2' })

  it.each([
    ['a pipe or link beside the work', manifest({ a: '1', 'd/b': '2' }, ['pipe'])],
    ['a link in the place of a file', manifest({ 'd/b': '2' }, ['a'])],
    ['a link in the place of a folder', manifest({ a: '1' }, ['d'])],
  ])('is nothing where all that changed is %s', async (_what, after) => {
    for (const kind of ['scratch', 'worktree'] as const) {
      const { empty, paths } = await content(kind, base, after)
      expect(empty).toBe(true)
      expect(paths).not.toEqual([])
      expect(await content(kind, base, after, 'said')).toMatchObject({ empty: false })
    }
  })

  it('is something where a file came, went or changed', async () => {
    for (const after of [manifest({ a: '1' }), manifest({ a: '2', 'd/b': '2' }), manifest({ a: '1', 'd/b': '2', c: '3' }, ['pipe'])])
      expect(await content('scratch', base, after)).toMatchObject({ empty: false })
  })

  it('is in a worktree what the merge takes over: a link added there does not make the merge another content', async () => {
    const merged = await content('worktree', base, manifest({ a: 'new', 'd/b': '2' }))
    expect((await content('worktree', base, manifest({ a: 'new', 'd/b': '2' }, ['link']))).digest).toBe(merged.digest)
    expect((await content('worktree', base, manifest({ a: 'new' }, ['d']))).digest).toBe(merged.digest)
    expect((await content('worktree', base, manifest({ a: 'new' }))).digest).not.toBe(merged.digest)
    const withLink = manifest({ a: '1', 'd/b': '2' }, ['old'])
    expect((await content('worktree', withLink, manifest({ a: 'new', 'd/b': '2' }))).digest).toBe(merged.digest)
  })
})
