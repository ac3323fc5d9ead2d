import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../contract/canonical.ts'
import { changed } from './changed.ts'

function tree(files: Record<string, string>, refused: Record<string, string> = {}) {
  return {
    files: Object.entries(files).map(([path, content]) => ({
      path,
      size: content.length,
      digest: digestOf(content),
      executable: content.startsWith('#!'),
    })),
    refused: Object.entries(refused).map(([path, why]) => ({ path, why })),
  }
}

describe('changed', () => {
  it('names what was added, deleted and edited, sorted', () => {
    expect(changed(tree({ z: '1', b: '1', same: '1' }), tree({ b: '2', same: '1', a: '1' }))).toEqual(['a', 'b', 'z'])
  })

  it('sees the executable bit alone', () => {
    const base = tree({ run: 'x' })
    const now = { ...base, files: base.files.map((file) => ({ ...file, executable: true })) }
    expect(changed(base, now)).toEqual(['run'])
  })

  it('sees what was refused: new, gone, refused for another reason, or in the place of a file', () => {
    expect(changed(tree({}), tree({}, { link: 'symbolic link to "a"' }))).toEqual(['link'])
    expect(changed(tree({}, { link: 'symbolic link to "a"' }), tree({}))).toEqual(['link'])
    expect(changed(tree({}, { link: 'symbolic link to "a"' }), tree({}, { link: 'symbolic link to "b"' }))).toEqual(['link'])
    expect(changed(tree({ f: 'x' }), tree({}, { f: 'hard link' }))).toEqual(['f'])
  })

  it('is empty for equal trees and the same in both directions', () => {
    const trees = fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '__proto__'), fc.constantFrom('1', '2', '#!3'))
    fc.assert(
      fc.property(trees, trees, trees, (one, other, links) => {
        const left = tree(one, links)
        const right = tree(other)
        expect(changed(left, left)).toEqual([])
        expect(changed(left, right)).toEqual(changed(right, left))
      }),
    )
  })
})
