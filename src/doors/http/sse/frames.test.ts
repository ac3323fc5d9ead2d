import { describe, expect, it } from 'vitest'
import { RecentFrames } from './frames.ts'

const frame = (position: number, text = 'x') => ({ position, text })
const positions = (frames: RecentFrames, after: number) => frames.after(after)?.map(({ position }) => position)

describe('RecentFrames', () => {
  it('gives what follows without a gap, or says that it cannot', () => {
    const frames = new RecentFrames(3, 1000)
    expect(positions(frames, 0)).toBeUndefined()
    for (const position of [4, 5, 6, 7]) frames.add(frame(position))
    expect(positions(frames, 3)).toBeUndefined()
    expect(positions(frames, 4)).toEqual([5, 6, 7])
    expect(positions(frames, 6)).toEqual([7])
    expect(positions(frames, 7)).toEqual([])
  })

  it('keeps no more than its bound of characters, not even of one frame', () => {
    const frames = new RecentFrames(100, 10)
    for (const position of [1, 2, 3]) frames.add(frame(position, 'xxxxx'))
    expect(positions(frames, 1)).toEqual([2, 3])
    frames.add(frame(4, 'x'.repeat(11)))
    expect(positions(frames, 3)).toBeUndefined()
  })
})
