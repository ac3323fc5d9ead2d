import { describe, expect, it } from 'vitest'
import type { PageFacts, Tappable } from './collect.ts'
import { mostTappables } from './collect.ts'
import { scrollComplaints, tapComplaints, viewportComplaints } from './geometry.ts'

const facts = (more: Partial<PageFacts>): PageFacts => ({ viewports: [], widths: [], beyond: [], tappables: [], hiding: [], ...more })
const target = (name: string, left: number, top: number, width: number, height: number, more: Partial<Tappable> = {}): Tappable => ({
  name,
  left,
  top,
  right: left + width,
  bottom: top + height,
  inline: false,
  within: null,
  ...more,
})
const tap = (...tappables: Tappable[]): string[] => tapComplaints(facts({ tappables }))

describe('the viewport declaration', () => {
  it.each(['width=device-width', 'initial-scale=1, width=device-width', 'WIDTH = device-width;initial-scale=1'])(
    'is good: %s',
    (content) => {
      expect(viewportComplaints(facts({ viewports: [content] }))).toEqual([])
    },
  )

  it.each(['', 'width=1024', 'initial-scale=1', 'width=device-widths', 'max-width=device-width'])('is not: "%s"', (content) => {
    expect(viewportComplaints(facts({ viewports: [content] }))).toEqual([expect.stringContaining(`"${content}"`)])
  })

  it('must be there, and not be taken back', () => {
    expect(viewportComplaints(facts({}))).toEqual([expect.stringContaining('has no')])
    expect(viewportComplaints(facts({ viewports: ['width=device-width', 'width=900'] }))).toHaveLength(1)
  })
})

describe('sideways scroll', () => {
  it('is content wider than the window, with who causes it', () => {
    expect(scrollComplaints(facts({ widths: [{ content: 390, window: 390 }] }))).toEqual([])
    const [complaint, ...more] = scrollComplaints(
      facts({
        widths: [
          { content: 390, window: 390 },
          { content: 800, window: 390 },
        ],
        beyond: [{ name: 'table.prices', right: 799.5 }],
      }),
    )
    expect(complaint).toMatch(/800 px wide in a window of 390 px.*table\.prices reaches to 800/)
    expect(more).toEqual([])
  })
})

describe('a tap target', () => {
  it('of 24×24 may touch others', () => {
    expect(tap(target('a', 0, 0, 24, 24), target('b', 24, 0, 24, 24))).toEqual([])
  })

  it('that is smaller needs a free circle of 24 around its middle', () => {
    expect(tap(target('a', 0, 0, 10, 10))).toEqual([])
    expect(tap(target('a', 0, 0, 10, 10), target('b', 17, 0, 40, 40))).toEqual([])
    expect(tap(target('a', 0, 0, 10, 10), target('b', 16, 0, 40, 40))).toEqual([
      'tap: a is 10×10 px, smaller than 24×24, and too close to b',
    ])
  })

  it('that is smaller keeps its circle clear of another circle', () => {
    expect(tap(target('a', 0, 0, 10, 10), target('b', 24, 0, 10, 10))).toEqual([])
    expect(tap(target('a', 0, 0, 10, 10), target('b', 23, 0, 10, 10))).toHaveLength(2)
  })

  it('in a line of text may be as small as the line', () => {
    expect(tap(target('a', 0, 0, 60, 15, { inline: true }), target('b', 60, 0, 60, 15, { inline: true }))).toEqual([])
  })

  it('is not in the way of what it contains', () => {
    expect(tap(target('card', 0, 0, 300, 100), target('a', 10, 10, 10, 10, { within: 0 }))).toEqual([])
    const [card, middle, inner] = [
      target('card', 0, 0, 300, 100),
      target('b', 0, 0, 40, 40, { within: 0 }),
      target('c', 10, 10, 9, 9, { within: 1 }),
    ]
    expect(tap(card, middle, inner)).toEqual([])
  })

  it('is one of so many that can be looked at', () => {
    const many = Array.from({ length: mostTappables + 1 }, (_each, place) => target('a', 0, place * 30, 30, 30))
    expect(tap(...many.slice(1))).toEqual([])
    expect(tap(...many)).toEqual([expect.stringContaining('more than 5000')])
  })
})
