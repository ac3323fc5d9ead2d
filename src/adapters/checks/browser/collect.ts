/** Where something is on the page, in CSS pixels. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** Something that can be tapped. */
export interface Tappable extends Box {
  name: string
  /** It stands in a line of other text, whose height it cannot choose. */
  inline: boolean
  /** Place in the list of the nearest tappable thing around it. */
  within: number | null
}

/** What a page looks like, as plain data; rules are applied to it outside the browser. */
export interface PageFacts {
  /** Contents of all viewport declarations, in order. */
  viewports: string[]
  /** Width of the content and of the window, for the page and, where it scrolls by itself, its body. */
  widths: { content: number; window: number }[]
  /** Elements that reach furthest beyond the window. */
  beyond: { name: string; right: number }[]
  tappables: Tappable[]
  /** Elements of a form that hide a built-in of the form by their name; then nothing that was seen of the form is certain. */
  hiding: string[]
}

export const mostTappables = 5_000

const interactive = [
  'a[href]',
  'area[href]',
  'button',
  'input:not([type="hidden" i])',
  'select',
  'textarea',
  'summary',
  '[onclick]',
  '[contenteditable=""]',
  '[contenteditable="true" i]',
  '[tabindex]:not([tabindex^="-"])',
  ...['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'option', 'slider', 'textbox', 'combobox'].map(
    (role) => `[role="${role}"]`,
  ),
]

/**
 * Collects the facts inside a frame. Runs in a world of its own, and takes every getter from its prototype:
 * elements of a form can hide the form's own properties even there.
 */
export const collectFacts = `(() => {
  const getter = (owner, key) => { const { get } = Object.getOwnPropertyDescriptor(owner.prototype, key); return (node) => get.call(node) }
  const method = (owner, key) => { const of = owner.prototype[key]; return (node, ...given) => of.apply(node, given) }
  const parentOf = getter(Node, 'parentNode'), textOf = getter(Node, 'textContent'), tagOf = getter(Element, 'localName')
  const attribute = method(Element, 'getAttribute'), matches = method(Element, 'matches'), box = method(Element, 'getBoundingClientRect')
  const contains = method(Node, 'contains'), rootOf = getter(Element, 'shadowRoot'), all = method(Document, 'querySelectorAll')
  const allIn = method(DocumentFragment, 'querySelectorAll'), scrolled = getter(Element, 'scrollWidth'), shown = getter(Element, 'clientWidth')
  const html = getter(Document, 'documentElement')(document), body = getter(Document, 'body')(document)
  const childrenOf = getter(Node, 'childNodes'), typeOf = getter(Node, 'nodeType')
  const hostOf = getter(ShadowRoot, 'host')
  const up = (node) => { const parent = parentOf(node); return parent instanceof ShadowRoot ? hostOf(parent) : parent instanceof Element ? parent : null }
  const short = (text, length) => text.length > length ? text.slice(0, length) + '…' : text
  const name = (node) => {
    const id = attribute(node, 'id'), classes = (attribute(node, 'class') ?? '').split(/\\s+/).filter(Boolean).slice(0, 2)
    const words = short((attribute(node, 'aria-label') ?? textOf(node) ?? '').slice(0, 400).replace(/\\s+/g, ' ').trim(), 40)
    return short(tagOf(node) + (id ? '#' + id : '') + classes.map((each) => '.' + each).join(''), 100) + (words ? ' "' + words + '"' : '')
  }
  const elements = []
  const gather = (found) => { for (const node of found) { elements.push(node); const root = rootOf(node); if (root) gather(allIn(root, '*')) } }
  gather(all(document, '*'))

  const structural = new Set([EventTarget, Node, Element].flatMap((owner) => Object.getOwnPropertyNames(owner.prototype)))
  for (const harmless of ['id', 'role', 'slot', 'part', 'prefix', 'remove', 'append', 'prepend', 'before', 'after', 'animate', 'scroll']) structural.delete(harmless)
  const hiding = elements.filter((node) => ['button', 'fieldset', 'input', 'object', 'output', 'select', 'textarea', 'img'].includes(tagOf(node)))
    .filter((node) => [attribute(node, 'name'), attribute(node, 'id')].some((key) => key !== null && structural.has(key))).slice(0, 20).map(name)

  const selector = ${JSON.stringify(interactive.join(','))}
  const style = (node) => getComputedStyle(node)
  const canBeTapped = (node) => {
    if (!matches(node, selector) || matches(node, ':disabled')) return false
    const { width, height, right, bottom } = box(node), look = style(node)
    return width > 1 && height > 1 && right + scrollX > 0 && bottom + scrollY > 0 && look.visibility === 'visible' && look.pointerEvents !== 'none'
  }
  const targets = elements.filter(canBeTapped).slice(0, ${mostTappables + 1})
  const places = new Map(targets.map((node, place) => [node, place]))
  const around = (node) => { for (let next = up(node); next; next = up(next)) if (places.has(next)) return places.get(next); return null }
  const hasOwnWords = (node) => {
    for (const child of childrenOf(node)) {
      if (typeOf(child) === 3 && textOf(child).trim() !== '') return true
      if (typeOf(child) === 1 && !places.has(child) && !['script', 'style', 'template'].includes(tagOf(child)) && hasOwnWords(child)) return true
    }
    return false
  }
  const spoken = new Map()
  const inline = (node) => {
    if (style(node).display !== 'inline') return false
    let block = up(node)
    while (block && style(block).display.startsWith('inline')) block = up(block)
    if (!block) return false
    if (!spoken.has(block)) spoken.set(block, hasOwnWords(block))
    return spoken.get(block)
  }
  const window = shown(html)
  const reach = elements.map((node) => ({ node, right: box(node).right + scrollX })).filter(({ right }) => right > window + 0.5)
  const furthest = reach.sort((a, b) => b.right - a.right).slice(0, 200)
  const deepest = furthest.filter(({ node }) => !furthest.some((other) => other.node !== node && contains(node, other.node)))
  const widths = [{ content: scrolled(html), window }]
  if (body && ['auto', 'scroll'].includes(style(body).overflowX)) widths.push({ content: scrolled(body), window: shown(body) })
  return {
    viewports: elements.filter((node) => matches(node, 'meta[name="viewport" i]')).map((node) => short(attribute(node, 'content') ?? '', 300)).slice(0, 20),
    widths,
    beyond: deepest.slice(0, 5).map(({ node, right }) => ({ name: name(node), right })),
    tappables: targets.map((node) => {
      const { left, top, right, bottom } = box(node)
      return { name: name(node), inline: inline(node), within: around(node), left: left + scrollX, top: top + scrollY, right: right + scrollX, bottom: bottom + scrollY }
    }),
    hiding,
  }
})()`
