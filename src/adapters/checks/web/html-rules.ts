import type { HtmlRule } from '../../../contract/check.ts'
import { attribute, type HtmlElement, ownText, placeOf } from './html-tree.ts'

export type PageElement = { element: HtmlElement; hidden: boolean }
type Elements = readonly PageElement[]

const named = (elements: Elements, ...tags: string[]): HtmlElement[] =>
  elements.filter(({ element }) => tags.includes(element.tagName)).map(({ element }) => element)

/** Says of each element beyond the first that it is one too many, and of none that it is missing. */
function exactlyOne(found: readonly HtmlElement[], what: string, root: HtmlElement | undefined): string[] {
  if (found.length === 0) return [`${placeOf(root)}: there is no ${what}`]
  return found.slice(1).map((element) => `${placeOf(element)}: a further ${what}; exactly one is expected`)
}

/** What each rule complains about, place first. */
export const htmlRules: Record<HtmlRule, (elements: Elements) => string[]> = {
  h1: (elements) => exactlyOne(named(elements, 'h1'), '<h1>', rootOf(elements)),
  main(elements) {
    const landmarks = elements.filter(({ element, hidden }) => !hidden && isMain(element)).map(({ element }) => element)
    return exactlyOne(landmarks, 'visible <main> landmark', rootOf(elements))
  },
  alt: (elements) => named(elements, 'img', 'input', 'area').flatMap(altComplaint),
  title(elements) {
    const title = named(elements, 'title')[0]
    return title && ownText(title).trim() !== '' ? [] : [`${placeOf(title ?? rootOf(elements))}: the page has no <title> with text in it`]
  },
  lang(elements) {
    const root = rootOf(elements)
    return root && attribute(root, 'lang')?.trim() ? [] : [`${placeOf(root)}: <html> has no lang`]
  },
  viewport(elements) {
    const found = named(elements, 'meta').filter((meta) => attribute(meta, 'name')?.trim().toLowerCase() === 'viewport')
    if (found.some((meta) => hasDeviceWidth(attribute(meta, 'content') ?? ''))) return []
    const what = found.length === 0 ? 'there is no <meta name="viewport">' : 'the viewport has no width=device-width'
    return [`${placeOf(found[0] ?? rootOf(elements))}: ${what}`]
  },
}

function rootOf(elements: Elements): HtmlElement | undefined {
  return elements[0]?.element
}

/** A role that is given takes the place of the element's own. */
function isMain(element: HtmlElement): boolean {
  const role = attribute(element, 'role')?.trim().toLowerCase().split(/\s+/)[0]
  return role === undefined || role === '' ? element.tagName === 'main' : role === 'main'
}

/** An image may be decoration, and says so by an empty alt; a button or a link never is. */
function altComplaint(element: HtmlElement): string[] {
  const alt = attribute(element, 'alt')
  if (element.tagName === 'img') return alt === undefined ? [`${placeOf(element)}: <img> has no alt`] : []
  if (element.tagName === 'input' && attribute(element, 'type')?.trim().toLowerCase() !== 'image') return []
  if (element.tagName === 'area' && attribute(element, 'href') === undefined) return []
  const name = element.tagName === 'input' ? '<input type="image">' : '<area href>'
  return alt?.trim() ? [] : [`${placeOf(element)}: ${name} has no alt with text in it`]
}

function hasDeviceWidth(content: string): boolean {
  return content
    .toLowerCase()
    .replace(/\s*=\s*/g, '=')
    .split(/[\s,;]+/)
    .includes('width=device-width')
}
