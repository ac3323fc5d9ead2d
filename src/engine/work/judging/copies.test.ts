import { expect, it } from 'vitest'
import type { EngineParts } from '../../parts.ts'
import { copyForJudge } from './copies.ts'

/** Parts of which only copies are made; `made` and `removed` say which. */
function partsThat(sandboxed: boolean, fails: () => boolean = () => false) {
  const made: string[] = []
  const removed: string[] = []
  const materialise: EngineParts['materialise'] = async (snapshot) => {
    if (fails()) throw new Error('disk full')
    const folder = `${snapshot}-${made.length + 1}`
    made.push(folder)
    return { folder, dispose: async () => void removed.push(folder) }
  }
  return { parts: { sandboxed: async () => sandboxed, materialise } as EngineParts, made, removed }
}

it('judges in a sandbox share a copy of the same snapshot, and the last one removes it', async () => {
  const { parts, made, removed } = partsThat(true)
  const [ada, bob, other] = await Promise.all([copyForJudge(parts, 'a'), copyForJudge(parts, 'a'), copyForJudge(parts, 'b')])
  expect([ada.folder, bob.folder, other.folder]).toEqual(['a-1', 'a-1', 'b-2'])
  await ada.dispose()
  await other.dispose()
  expect(removed).toEqual(['b-2'])
  const late = await copyForJudge(parts, 'a')
  expect(late.folder).toBe('a-1')
  await Promise.all([bob.dispose(), late.dispose()])
  expect(removed).toEqual(['b-2', 'a-1'])
  expect((await copyForJudge(parts, 'a')).folder).toBe('a-3')
  expect(made).toHaveLength(3)
})

it('without a sandbox every judge has a copy of its own', async () => {
  const { parts, removed } = partsThat(false)
  const [ada, bob] = await Promise.all([copyForJudge(parts, 'a'), copyForJudge(parts, 'a')])
  expect(ada.folder).not.toBe(bob.folder)
  await ada.dispose()
  expect(removed).toEqual([ada.folder])
})

it('a copy that could not be made is tried again by whoever comes next', async () => {
  let full = true
  const { parts, removed } = partsThat(true, () => full)
  await expect(Promise.all([copyForJudge(parts, 'a'), copyForJudge(parts, 'a')])).rejects.toThrow('disk full')
  full = false
  const copy = await copyForJudge(parts, 'a')
  await copy.dispose()
  expect(removed).toEqual([copy.folder])
})
