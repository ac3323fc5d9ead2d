import { setImmediate } from 'node:timers/promises'
import type { DefaultTreeAdapterTypes, TreeAdapter } from 'parse5'

export type HtmlElement = DefaultTreeAdapterTypes.Element
type Document = DefaultTreeAdapterTypes.Document

/** Limits of a page, far beyond those that people read; browsers stop at 512 levels too. */
export const htmlLimits = { bytes: 4 * 1024 * 1024, levels: 512, nodes: 300_000, attributes: 1_000 }

/** How much is parsed before others get their turn. */
const chunkLength = 64 * 1024

/** Thrown through the parser, which cannot be stopped otherwise, and caught around it. */
class TooMuch extends Error {}

/** The page as a tree, or why it is none. Work and memory are bounded while it is parsed, not afterwards. */
export async function parseHtml(text: string, signal: AbortSignal): Promise<{ document: Document } | { why: string } | { stopped: true }> {
  const { Parser, defaultTreeAdapter } = await import('parse5')
  const parser = new Parser<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>({
    sourceCodeLocationInfo: true,
    treeAdapter: bounded(defaultTreeAdapter),
  })
  try {
    for (let place = 0; place < text.length; place += chunkLength) {
      if (signal.aborted) return { stopped: true }
      parser.tokenizer.write(text.slice(place, place + chunkLength), false)
      await setImmediate()
    }
    parser.tokenizer.write('', true)
    return { document: parser.document }
  } catch (error) {
    if (error instanceof TooMuch) return { why: error.message }
    throw error
  }
}

type Adapter = TreeAdapter<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>

/** Counts what the parser makes: a short text can stand for a tree without end, and a deep one makes every step slow. */
function bounded(adapter: Adapter): Adapter {
  let nodes = 0
  let level = 0
  const count = (): void => {
    if (++nodes > htmlLimits.nodes) throw new TooMuch(`it has more than ${htmlLimits.nodes} elements and texts`)
  }
  const countAttributes = (attributes: number): void => {
    if (attributes > htmlLimits.attributes) throw new TooMuch(`an element has more than ${htmlLimits.attributes} attributes`)
  }
  return {
    ...adapter,
    createElement(tag, namespace, attributes) {
      count()
      countAttributes(attributes.length)
      return adapter.createElement(tag, namespace, attributes)
    },
    adoptAttributes(element, attributes) {
      countAttributes(element.attrs.length + attributes.length)
      adapter.adoptAttributes(element, attributes)
    },
    createCommentNode(data) {
      count()
      return adapter.createCommentNode(data)
    },
    insertText(parent, text) {
      count()
      adapter.insertText(parent, text)
    },
    insertTextBefore(parent, text, reference) {
      count()
      adapter.insertTextBefore(parent, text, reference)
    },
    onItemPush() {
      if (++level > htmlLimits.levels) throw new TooMuch(`it is nested more than ${htmlLimits.levels} levels deep`)
    },
    onItemPop() {
      level--
    },
  }
}

/** Elements of HTML in the order of the text; what a template holds is no part of the page. `hidden` says whether it or an element around it is hidden. */
export function* elementsOf(document: Document): Generator<{ element: HtmlElement; hidden: boolean }> {
  const open: { node: DefaultTreeAdapterTypes.Node; hidden: boolean }[] = [{ node: document, hidden: false }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next
    const hidden = next.hidden || ('attrs' in node && attribute(node, 'hidden') !== undefined)
    if ('attrs' in node && node.namespaceURI === 'http://www.w3.org/1999/xhtml') yield { element: node, hidden }
    if (!('childNodes' in node)) continue
    for (let index = node.childNodes.length - 1; index >= 0; index--) {
      const child = node.childNodes[index]
      if (child !== undefined) open.push({ node: child, hidden })
    }
  }
}

export function attribute(element: HtmlElement, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value
}

/** The text directly inside an element. */
export function ownText(element: HtmlElement): string {
  return element.childNodes.map((node) => ('value' in node ? node.value : '')).join('')
}

/** Where an element begins, as `line:column`; what the parser added itself begins where the text does. */
export function placeOf(element: HtmlElement | undefined): string {
  const location = element?.sourceCodeLocation
  return location ? `${location.startLine}:${location.startCol}` : '1:1'
}
