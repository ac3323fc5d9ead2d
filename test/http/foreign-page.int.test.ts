import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromeForTests } from '../../src/adapters/checks/browser/testing/chrome.ts'
import { openDoor, ownerToken } from './open-door.ts'

const chrome = chromeForTests()
if (!chrome) console.warn('no Chromium here: pages of other origins are not tried; install the package chromium, or set ASSAY_CHROME')

/** What a page does to a server: everything that a browser lets it, with a token that it somehow got. */
const attack = async ({ url, token, yaml }: { url: string; token: string; yaml: string }): Promise<string[]> => {
  const tries: [string, RequestInit][] = [
    ['/v1/health', { headers: { authorization: `Bearer ${token}` } }],
    ['/v1/health', { mode: 'no-cors' }],
    ['/v1/missions', { method: 'POST', mode: 'no-cors', body: yaml }],
    ['/v1/missions', { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }, body: yaml }],
  ]
  const seen: string[] = []
  for (const [path, init] of tries)
    try {
      const answer = await fetch(`${url}${path}`, init)
      seen.push(`${answer.type} ${answer.status} ${await answer.text()}`)
    } catch (error) {
      seen.push((error as Error).name)
    }
  return seen
}

describe('a page of another origin, in a real browser', () => {
  it.skipIf(!chrome)('reads nothing and starts nothing, also by a name that was made to point here', { timeout: 180_000 }, async () => {
    const { server, engine } = await openDoor()
    const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>foreign</p>'))
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
    const profile = mkdtempSync(join(tmpdir(), 'assay-foreign-'))
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chrome ?? '',
      headless: true,
      chromiumSandbox: process.getuid?.() !== 0,
      // A recent Chromium keeps pages from the machine's own servers by itself; not every browser does.
      args: ['--disable-gpu', '--disable-features=LocalNetworkAccessChecks', '--host-resolver-rules=MAP rebound.example 127.0.0.1'],
    })
    onTestFinished(async () => {
      await context.close()
      page.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    })
    const tab = await context.newPage()
    const yaml = 'name: M\ntasks: [{ title: a, assignTo: ext, description: Do it. }]'

    await tab.goto(`http://localhost:${(page.address() as AddressInfo).port}/`)
    const foreign = await tab.evaluate(attack, { url: `http://127.0.0.1:${server.port}`, token: ownerToken, yaml })
    expect(
      foreign.every((seen) => seen === 'TypeError' || seen === 'opaque 0 '),
      foreign.join('\n'),
    ).toBe(true)

    // Rebinding: to the browser the server is the page's own origin by now, so it lets the page read whatever is answered.
    await tab.route('**/foreign.html', (route) => route.fulfill({ contentType: 'text/html', body: '<p>foreign</p>' }))
    await tab.goto(`http://rebound.example:${server.port}/foreign.html`)
    const rebound = await tab.evaluate(attack, { url: '', token: ownerToken, yaml })
    expect(
      rebound.every((seen) => / 403 .*host_refused/.test(seen)),
      rebound.join('\n'),
    ).toBe(true)
    expect(await engine.missions()).toEqual([])

    // The same page served by the server itself may: the refusals above are about where it came from.
    await tab.goto(`http://127.0.0.1:${server.port}/`)
    const own = await tab.evaluate(attack, { url: '', token: ownerToken, yaml })
    expect(own[0]).toContain('"status":"ok"')
    expect(await engine.missions()).toHaveLength(1)
  })
})
