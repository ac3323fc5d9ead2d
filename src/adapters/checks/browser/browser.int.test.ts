import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { openBrowser } from './launch.ts'
import { type Bench, chrome, livingBrowsers, openBench, page, timeoutMs } from './testing/visit.ts'
import { freeze } from './worlds.ts'

let bench: Bench
beforeEach(() => {
  bench = openBench()
})

it('is an error, with advice, where the browser cannot be run', async () => {
  expect(await bench.check(page(), {}, { chrome: join(bench.home, 'absent') })).toMatchObject({
    outcome: 'error',
    summary: expect.stringMatching(/absent does not exist; install Chromium.*ASSAY_CHROME/),
  })
})

it('is an error where the browser does not start, or never is ready', async () => {
  const program = join(bench.home, 'chrome')
  writeFileSync(program, '#!/bin/sh\necho no usable sandbox >&2; exit 3\n', { mode: 0o755 })
  expect(await bench.check(page(), {}, { chrome: program })).toMatchObject({
    outcome: 'error',
    summary: expect.stringContaining('could not be started'),
    output: expect.stringContaining('no usable sandbox'),
  })
  const begun = join(bench.home, 'begun')
  writeFileSync(program, `#!/bin/sh\ntouch ${begun}; sleep 61347\n`)
  expect(await bench.check(page(), { timeout: '2s' }, { chrome: program })).toMatchObject({
    summary: expect.stringContaining('time limit'),
  })
  rmSync(begun)
  const stop = new AbortController()
  const result = bench.check(page(), {}, { chrome: program, signal: stop.signal })
  while (!existsSync(begun)) await sleep(10)
  stop.abort()
  expect(await result).toMatchObject({ outcome: 'error', summary: expect.stringContaining('stopped') })
  expect(livingBrowsers('sleep 61347')).toEqual([])
}, 60_000)

describe.skipIf(chrome === undefined)('a page in a browser', { timeout: 120_000 }, () => {
  it('passes when nothing is wrong with it, and leaves a picture', async () => {
    mkdirSync(join(bench.folder, 'site'))
    writeFileSync(join(bench.folder, 'site', 'style.css'), 'h1 { color: #222 }')
    writeFileSync(join(bench.folder, 'site', 'index.html'), page('', '<link rel="stylesheet" href="style.css">'))
    const result = await bench.check({ path: 'site' })
    expect(result).toMatchObject({ outcome: 'pass', output: '', evidence: [{ name: 'screenshot.png', mediaType: 'image/png' }] })
    const [picture] = bench.kept
    expect(Buffer.from(picture ?? []).readUInt32BE(16)).toBe(390)
    expect(result.evidence?.[0]?.bytes).toBe(picture?.length)
  })

  it.each<[string, string, RegExp]>([
    ['no viewport declaration', page().replace(/<meta name="viewport"[^>]*>/, ''), /viewport: the page has no/],
    ['a table that is too wide', page('<div id="wide" style="width:700px">x</div>'), /scroll: .* div#wide "x" reaches to 708/],
    [
      'a body that scrolls by itself',
      page('<div style="width:700px">x</div>', '<style>html{overflow:hidden}body{overflow-x:auto;width:370px}</style>'),
      /scroll: /,
    ],
    [
      'small links in a pile',
      page('<a style="display:block;line-height:1" href="a">one</a><a style="display:block;line-height:1" href="b">two</a>'),
      /tap: a "one" is .* too close to a "two"/,
    ],
    ['faint text', page('<p style="color:#ccc">faint</p>'), /axe: color-contrast \(serious\): .*p/],
    ['a field without a label', page('<input type="text">'), /axe: label \(critical\): .*input/],
    ['faint text in a frame', page(`<iframe title="f" srcdoc="<p style='color:#ccc'>faint</p>"></iframe>`), /axe: color-contrast/],
    [
      'faint text in a frame of its own',
      page(`<iframe title="f" sandbox srcdoc="<p style='color:#ccc'>faint</p>"></iframe>`),
      /axe: color-contrast/,
    ],
    [
      'faint text in an open shadow root',
      page('<div><template shadowrootmode="open"><p style="color:#ccc">faint</p></template></div>'),
      /axe: color-contrast/,
    ],
  ])('fails for %s, and leaves a picture', async (_name, page, words) => {
    expect(await bench.check(page)).toMatchObject({
      outcome: 'fail',
      output: expect.stringMatching(words),
      evidence: [{ mediaType: 'image/png' }],
    })
    expect(bench.kept).toHaveLength(1)
  })

  it('follows the rules that are named, and the width', async () => {
    const text = page('<div style="width:700px">x</div><p style="color:#ccc">faint</p>').replace('device-width', '1')
    expect((await bench.check(text, { rules: ['tap'] })).outcome).toBe('pass')
    expect((await bench.check(text, { rules: ['axe'] })).output).toMatch(/^axe: [^\n]*$/)
    expect((await bench.check(page('<div style="width:700px">x</div>'), { rules: ['scroll'], width: 800 })).outcome).toBe('pass')
  })

  it('lets links be small in a sentence and with room around them', async () => {
    const links =
      '<p>Read <a href="a">this</a> and <a href="b">that</a> first.</p><p><a style="display:block;width:9px;height:9px;margin:30px" href="c" aria-label="c"></a></p>'
    expect(await bench.check(page(links), { rules: ['tap'] })).toMatchObject({ outcome: 'pass' })
  })

  it('fails for what is not there, and is an error for what cannot be meant', async () => {
    expect(await bench.check({ path: 'absent.html' })).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('does not exist'),
    })
    for (const target of [
      {},
      { path: '../x' },
      { path: 'a', url: 'http://example.com' },
      { url: 'file:///etc/passwd' },
      { url: 'http://127.0.0.1:1/' },
    ])
      expect(await bench.check(target), JSON.stringify(target)).toMatchObject({ outcome: 'error' })
    const empty = await bench.listen((_request, response) => response.writeHead(500).end('no'))
    expect(await bench.check({ url: empty, allowPrivate: true })).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('status 500'),
    })
  })

  it('cuts the picture of an endless page', async () => {
    const result = await bench.check(page('<div style="height:40000px">x</div>'), { rules: ['scroll'] })
    expect(result).toMatchObject({ outcome: 'pass', output: expect.stringContaining('the screenshot shows 390×10000 px') })
    expect(Buffer.from(bench.kept[0] ?? []).readUInt32BE(20)).toBeLessThanOrEqual(10_000)
  })
})

describe.skipIf(chrome === undefined)('a hostile page', { timeout: 120_000 }, () => {
  const bad =
    '<div id="wide" style="width:700px">x</div><p style="color:#ccc">faint</p><a style="display:block;line-height:1" href="a">one</a><a style="display:block;line-height:1" href="b">two</a>'
  const found = { outcome: 'fail', output: expect.stringMatching(/scroll: [\s\S]*tap: [\s\S]*axe: color-contrast/) }

  it('cannot change what the rules see by putting its own things in the place of built-ins', async () => {
    const forged = `<script>
      const none = () => []
      window.axe = { run: async () => ({ violations: [] }) }
      Object.freeze(window.axe)
      for (const name of ['filter', 'map', 'flatMap', 'slice', 'some']) Array.prototype[name] = none
      Document.prototype.querySelectorAll = document.querySelectorAll = Element.prototype.querySelectorAll = none
      Element.prototype.matches = () => false
      Element.prototype.getBoundingClientRect = () => ({ left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 })
      for (const name of ['scrollWidth', 'clientWidth']) Object.defineProperty(Element.prototype, name, { get: () => 390 })
      window.getComputedStyle = () => ({ display: 'inline', visibility: 'hidden' })
      Object.defineProperty(Element.prototype, 'scrollWidth', { get: () => 1 })
      Promise.prototype.then = () => new Promise(() => {})
      JSON.stringify = () => '[]'
      document.title = [1].filter.length + ':' + document.documentElement.scrollWidth + ':' + document.querySelectorAll('*').length
      document.body.append(document.title)
      </script>`
    // The forgery took hold in the page itself: it is named in the title that the page made with it.
    const titled = `${forged}<script>if (document.title !== '0:1:0') document.body.innerHTML = ''</script>`
    expect(await bench.check(page(bad + titled))).toMatchObject(found)
  })

  it('cannot change anything between one rule and the next', async () => {
    const opened = await openBrowser(
      { program: chrome ?? '', home: bench.home, proxy: 'http://127.0.0.1:9', width: 390, timeoutMs },
      new AbortController().signal,
    )
    try {
      const turning =
        '<script>let n = 0; setInterval(() => { document.body.dataset.n = ++n; document.body.click() }, 1); onclick = () => n++</script>'
      await opened.page.setContent(page(turning))
      const number = () => opened.page.locator('body').getAttribute('data-n')
      const first = await number()
      while ((await number()) === first) await sleep(5)
      const { worlds } = await freeze(opened.page)
      const frozen = await worlds[0]?.evaluate('document.body.dataset.n')
      expect(Number(frozen)).toBeGreaterThan(0)
      await sleep(300)
      expect(await worlds[0]?.evaluate('document.body.dataset.n')).toBe(frozen)
    } finally {
      await opened.kill()
    }
  })

  it('cannot hide elements behind names of a form or in a closed shadow root', async () => {
    const clobbered = page('<form><input name="childNodes" aria-label="x"><p style="color:#ccc">faint</p></form>')
    expect(await bench.check(clobbered)).toMatchObject({ outcome: 'fail', output: expect.stringContaining('hides a built-in of its form') })
    expect(
      (
        await bench.check(
          page('<form><input name="name" aria-label="x"><button name="remove">Remove</button></form><img name="documentElement" alt="">'),
        )
      ).outcome,
    ).toBe('pass')
    const closed = page('<div><template shadowrootmode="closed"><p style="color:#ccc">faint</p></template></div>')
    expect(await bench.check(closed)).toMatchObject({ outcome: 'error', summary: expect.stringContaining('closed shadow root') })
  })

  it.each<[string, string, RegExp]>([
    ['never finishes loading', '<script>for (;;) {}</script>', /time limit of 6000 ms/],
    [
      'loops for ever once it is loaded',
      '<script>addEventListener("load", () => setTimeout(() => { for (;;) {} }, 50))</script>',
      /time limit of 6000 ms/,
    ],
    ['asks without end', '<script>for (;;) alert("x")</script>', /more than 20 dialogs/],
    ['goes round in circles', '<script>location.replace("?" + Math.random())</script>', /./],
  ])('that %s is an error', async (_name, script, words) => {
    expect(await bench.check(page(script), { timeout: '6s' })).toMatchObject({ outcome: 'error', summary: expect.stringMatching(words) })
  })

  it('that uses up memory is an error', async () => {
    const hoard = '<script>const all = []; for (;;) all.push(new Uint8Array(50e6).fill(7))</script>'
    expect(await bench.check(page(hoard), { timeout: '40s' })).toMatchObject({
      outcome: 'error',
      summary: expect.stringMatching(/MiB of memory|crashed/),
    })
  })

  it('that crashes is an error', async () => {
    const asked = Promise.withResolvers<void>()
    const url = await bench.listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write(page())
      asked.resolve()
    })
    const result = bench.check({ url, allowPrivate: true })
    await asked.promise
    const renderers = livingBrowsers('--type=renderer')
    expect(renderers.length).toBeGreaterThan(0)
    for (const renderer of renderers) process.kill(Number.parseInt(renderer, 10), 'SIGKILL')
    expect(await result).toMatchObject({ outcome: 'error', summary: expect.stringContaining('the page crashed') })
  })

  it('opens no windows, dialogs, downloads or service workers', async () => {
    const busy = page(`<a id="d" download="x.txt" href="data:text/plain,x"></a><script>
      alert('a'); confirm('b'); window.open('about:blank'); document.getElementById('d').click()
      navigator.serviceWorker?.register('sw.js').then(() => document.body.append('<p>REGISTERED'))
      </script>`)
    writeFileSync(join(bench.folder, 'sw.js'), 'onfetch = () => {}')
    const result = await bench.check(busy, { rules: ['viewport'] })
    expect(result).toMatchObject({ outcome: 'pass', output: 'turned away: 2 dialogs\nturned away: 1 popups\nturned away: 1 downloads' })
  })

  it('ends when it is stopped', async () => {
    const stop = new AbortController()
    const asked = Promise.withResolvers<void>()
    const url = await bench.listen(() => asked.resolve())
    const result = bench.check({ url, allowPrivate: true }, {}, { signal: stop.signal })
    await asked.promise
    expect(livingBrowsers().length).toBeGreaterThan(0)
    stop.abort()
    expect(await result).toMatchObject({ outcome: 'error', summary: expect.stringContaining('stopped') })
    expect(await bench.check(page(), {}, { signal: AbortSignal.abort() })).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('stopped'),
    })
  })
})
