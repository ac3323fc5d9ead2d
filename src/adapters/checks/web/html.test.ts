import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HtmlRule } from '../../../contract/check.ts'
import { htmlRules } from './html-rules.ts'
import { elementsOf, htmlLimits, parseHtml } from './html-tree.ts'

const never = new AbortController().signal

async function complaints(text: string, rules: readonly HtmlRule[] = HtmlRule.options): Promise<string[]> {
  const parsed = await parseHtml(text, never)
  if (!('document' in parsed)) throw new Error(JSON.stringify(parsed))
  const elements = [...elementsOf(parsed.document)]
  return rules.flatMap((rule) => htmlRules[rule](elements))
}

const good = `<!doctype html>
<html lang="en">
<head><title>Bread</title><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Bread</h1><img src="a.png" alt="A loaf"><img src="line.png" alt=""></main></body>
</html>`

describe('a page', () => {
  it('that keeps every rule has no complaints', async () => {
    expect(await complaints(good)).toEqual([])
  })

  it('that is empty has one of each but pictures', async () => {
    expect(await complaints('')).toEqual([
      '1:1: there is no <h1>',
      '1:1: there is no visible <main> landmark',
      '1:1: the page has no <title> with text in it',
      '1:1: <html> has no lang',
      '1:1: there is no <meta name="viewport">',
    ])
  })

  it.each<[string, HtmlRule, string, string[]]>([
    ['two h1', 'h1', '<h1>a</h1>\n <h1>b</h1>', ['2:2: a further <h1>; exactly one is expected']],
    ['an h1 in a template', 'h1', '<template><h1>a</h1></template>', ['1:1: there is no <h1>']],
    ['an h1 in a comment or script', 'h1', '<!-- <h1>a</h1> --><script>"<h1>b</h1>"</script>', ['1:1: there is no <h1>']],
    ['an h1 in upper case', 'h1', '<H1>a</H1>', []],
    ['main by role', 'main', '<div role="main">x</div>', []],
    ['main by element and role at once', 'main', '<main role=main>x</main>', []],
    ['main with another role', 'main', '<main role="presentation">x</main>', ['1:1: there is no visible <main> landmark']],
    [
      'two mains',
      'main',
      '<main>a</main>\n<div role="MAIN other">b</div>',
      ['2:1: a further visible <main> landmark; exactly one is expected'],
    ],
    ['a second main that is hidden', 'main', '<main>a</main><main hidden>b</main>', []],
    ['a main inside what is hidden', 'main', '<div hidden><p><main>b</main></div>', ['1:1: there is no visible <main> landmark']],
    ['no alt', 'alt', '<p>\n  <img src=a><img src=b alt></p>', ['2:3: <img> has no alt']],
    [
      'a button without alt',
      'alt',
      '<input type="IMAGE" alt=" "><input type=text>',
      ['1:1: <input type="image"> has no alt with text in it'],
    ],
    ['areas', 'alt', '<map><area href=x><area></map>', ['1:6: <area href> has no alt with text in it']],
    ['an image of a drawing', 'alt', '<svg><image href=a /></svg>', []],
    ['an empty title', 'title', '<title> \n</title>', ['1:1: the page has no <title> with text in it']],
    ['the title of a drawing', 'title', '<svg><title>x</title></svg>', ['1:1: the page has no <title> with text in it']],
    ['an empty lang', 'lang', '<!doctype html>\n<html lang=" ">', ['2:1: <html> has no lang']],
    ['lang elsewhere', 'lang', '<body lang=en>', ['1:1: <html> has no lang']],
    ['a fixed viewport', 'viewport', '<meta name=viewport content="width=1024">', ['1:1: the viewport has no width=device-width']],
    ['a viewport in other words', 'viewport', '<META NAME=" Viewport " content="initial-scale=1; WIDTH = device-width">', []],
    [
      'a viewport that only looks like one',
      'viewport',
      '<meta name=viewport content="min-width=device-width">',
      ['1:1: the viewport has no width=device-width'],
    ],
  ])('with %s', async (_name, rule, text, expected) => {
    expect(await complaints(text, [rule])).toEqual(expected)
  })

  it('is the same in one piece and in many', async () => {
    const padding = `<p>${'x'.repeat(30)}</p>\n`.repeat(10_000)
    const text = `${good.replace('<h1>', `${padding}<h1>`)}<h1>again</h1>`
    expect(text.length).toBeGreaterThan(300_000)
    expect(await complaints(text)).toEqual(['10005:8: a further <h1>; exactly one is expected'])
  })

  it('of any text at all is read', async () => {
    const piece = fc.constantFrom(
      '<h1>',
      '</h1>',
      '<main',
      '>',
      '<table>',
      '<b a=1>',
      '<p>',
      '<svg>',
      '<template>',
      '<!--',
      '&',
      '<html lang=a>',
      'x',
      '\0',
      '</',
      '<select>',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), async (pieces) => {
        expect(Array.isArray(await complaints(pieces.join('')))).toBe(true)
      }),
    )
  })
})

describe('a page without end', () => {
  it.each<[string, string, RegExp]>([
    ['nested tags', '<div>'.repeat(100_000), /nested more than 512 levels/],
    ['nested tags that are closed', '<i>'.repeat(100_000) + '</i>'.repeat(100_000), /nested more than 512 levels/],
    ['nested drawings', '<svg><g>'.repeat(100_000), /nested more than 512 levels/],
    ['nested templates', '<template>'.repeat(100_000), /nested more than 512 levels/],
    ['tables inside tables', '<table><tr><td>'.repeat(100_000), /nested more than 512 levels/],
    ['many elements', '<br>'.repeat(1_000_000), /more than 300000 elements/],
    ['many comments', '<!---->'.repeat(400_000), /more than 300000 elements/],
    [
      'formatting that multiplies',
      Array.from({ length: 400 }, (_unused, index) => `<p><b c=${index}>`).join('') + '<p>x'.repeat(20_000),
      /more than|nested/,
    ],
    ['many attributes', `<p ${Array.from({ length: 200_000 }, (_unused, index) => `a${index}`).join(' ')}>`, /more than 1000 attributes/],
    [
      'attributes of a root that comes again',
      Array.from({ length: 20_000 }, (_unused, index) => `<html a${index}>`).join(''),
      /more than 1000 attributes/,
    ],
  ])('is refused: %s', async (_name, text, words) => {
    expect(text.length).toBeLessThan(htmlLimits.bytes)
    expect(await parseHtml(text, never)).toEqual({ why: expect.stringMatching(words) })
  })

  it.each<[string, string]>([
    ['one long text', 'x'.repeat(4_000_000)],
    ['one long attribute', `<p title="${'x'.repeat(3_000_000)}">`],
    ['one long tag name', `<${'x'.repeat(3_000_000)}>`],
    ['end tags of nothing', '</p>'.repeat(200_000)],
    ['misnested tags', '<b><i></b></i>'.repeat(20_000)],
    ['a table full of text', `<table>${'x<tr>'.repeat(60_000)}`],
    ['references', '&amp;&#x41;&notin;'.repeat(200_000)],
    ['an open comment', `<!--${'-'.repeat(3_000_000)}`],
  ])('is read or refused, but ends: %s', async (_name, text) => {
    const parsed = await parseHtml(text, never)
    expect('document' in parsed || 'why' in parsed).toBe(true)
  })

  it('is left when nobody wants to know any longer', async () => {
    const stop = new AbortController()
    const parsed = parseHtml('<p>a</p>'.repeat(100_000), stop.signal)
    stop.abort()
    expect(await parsed).toEqual({ stopped: true })
  })
})
