import type { Box, PageFacts, Tappable } from './collect.ts'
import { mostTappables } from './collect.ts'

/** Least width and height of a tap target in CSS pixels, and the diameter of the free circle around a smaller one (WCAG 2.2, 2.5.8). */
const least = 24

/** A page without the declaration is laid out for a desk and shrunk. */
export function viewportComplaints({ viewports }: PageFacts): string[] {
  if (viewports.length === 0) return ['viewport: the page has no <meta name="viewport" content="width=device-width">']
  return viewports
    .filter((content) => !/(^|[,;\s])width\s*=\s*device-width($|[,;\s])/i.test(content))
    .map((content) => `viewport: the declaration "${content}" does not say width=device-width`)
}

/** The page must fit the width of its window. */
export function scrollComplaints({ widths, beyond }: PageFacts): string[] {
  const wide = widths.find(({ content, window }) => content > window)
  if (wide === undefined) return []
  const names = beyond.map(({ name, right }) => `${name} reaches to ${Math.ceil(right)}`)
  const because = names.length > 0 ? `; ${names.join('; ')}` : ''
  return [`scroll: the page is ${wide.content} px wide in a window of ${wide.window} px and scrolls sideways${because}`]
}

/** Targets that are too small and too close to another. Those in a line of text cannot be larger than the line. */
export function tapComplaints({ tappables }: PageFacts): string[] {
  if (tappables.length > mostTappables) return [`tap: the page has more than ${mostTappables} things to tap, the most that is looked at`]
  return tappables.flatMap((target, place) => {
    if (target.inline || !isSmall(target)) return []
    const neighbour = tappables.find((other, at) => at !== place && !areNested(tappables, place, at) && isTooClose(target, other))
    if (neighbour === undefined) return []
    const size = `${Math.round(target.right - target.left)}×${Math.round(target.bottom - target.top)} px`
    return [`tap: ${target.name} is ${size}, smaller than ${least}×${least}, and too close to ${neighbour.name}`]
  })
}

function isSmall({ left, top, right, bottom }: Box): boolean {
  // Layout leaves fractions of a pixel behind.
  return right - left < least - 0.01 || bottom - top < least - 0.01
}

/** Whether the circle around a small target meets another target, or the circle of another small one. */
function isTooClose(small: Tappable, other: Tappable): boolean {
  const [x, y] = centre(small)
  const outside = Math.hypot(Math.max(other.left - x, 0, x - other.right), Math.max(other.top - y, 0, y - other.bottom))
  if (outside < least / 2) return true
  const [otherX, otherY] = centre(other)
  return isSmall(other) && Math.hypot(otherX - x, otherY - y) < least
}

function centre({ left, top, right, bottom }: Box): [x: number, y: number] {
  return [(left + right) / 2, (top + bottom) / 2]
}

function areNested(tappables: readonly Tappable[], one: number, two: number): boolean {
  return isWithin(tappables, one, two) || isWithin(tappables, two, one)
}

function isWithin(tappables: readonly Tappable[], inner: number, outer: number): boolean {
  for (let place = tappables[inner]?.within ?? null; place !== null; place = tappables[place]?.within ?? null) {
    if (place === outer) return true
  }
  return false
}
