import { describe, expect, it } from 'vitest'
import type { Digest } from '../../contract/canonical.ts'
import type { Manifest, SnapshotStore } from '../../ports/snapshots.ts'
import { textReader, workFiles } from './material.ts'

const snapshot: Digest = `sha256:${'0'.repeat(64)}`

/** A snapshot of these files that remembers what was read of it. */
function shelf(contents: Record<string, string>) {
  const reads: string[] = []
  const files = Object.entries(contents).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    digest: snapshot,
    executable: false,
  }))
  const manifest: Manifest = { digest: snapshot, files, refused: [{ path: 'link', why: 'symbolic link to "/"' }] }
  const store = {
    manifest: async () => manifest,
    read: async (_digest: Digest, path: string) => {
      reads.push(path)
      return Buffer.from(contents[path] ?? '')
    },
  }
  return { reads, manifest, snapshots: store as unknown as SnapshotStore }
}

describe('the work as text', () => {
  it('shows files in the order given, and names what cannot be shown', async () => {
    const { snapshots } = shelf({ 'a.txt': 'hello', 'b.bin': 'x\0y' })
    expect(await workFiles(snapshots, snapshot, ['b.bin', 'link', 'gone.txt', 'a.txt'])).toEqual([
      { path: 'b.bin', text: '[3 bytes, not shown: binary or large]' },
      { path: 'link', text: '[not a plain file: symbolic link to "/"]' },
      { path: 'gone.txt', text: '[deleted]' },
      { path: 'a.txt', text: 'hello' },
    ])
  })

  it('does not read what would not be shown: past the budget, or too large', async () => {
    const { snapshots, reads } = shelf({ big: 'x'.repeat(300_000), one: '12345', two: '67890', three: '1' })
    const files = await workFiles(snapshots, snapshot, ['big', 'one', 'two', 'three'], 400_000)
    expect(reads).toEqual(['one', 'two', 'three'])
    expect(files[0]?.text).toBe('[300000 bytes, not shown: binary or large]')
    reads.length = 0
    const few = await workFiles(snapshots, snapshot, ['one', 'two', 'three'], 6)
    expect(reads).toEqual(['one', 'three'])
    expect(few[1]?.text).toContain('5 bytes, left out because the prompt is limited')
  })

  it('reads a file once for any number of pointers', async () => {
    const { snapshots, manifest, reads } = shelf({ 'a.txt': 'hello', big: 'x'.repeat(300_000) })
    const text = textReader(snapshots, snapshot, manifest)
    expect(await Promise.all([text('a.txt'), text('a.txt'), text('big'), text('gone.txt')])).toEqual([
      'hello',
      'hello',
      undefined,
      undefined,
    ])
    expect(await text('a.txt')).toBe('hello')
    expect(reads).toEqual(['a.txt'])
  })
})
