import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckReport, type CheckSpec } from '../../../contract/check.ts'
import { createCheckRunner } from '../runner.ts'

let folder: string
const open: (() => Promise<unknown>)[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-web-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  await Promise.all(open.splice(0).map((close) => close()))
})

async function serve(handler: RequestListener): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

async function check(spec: CheckSpec, signal = new AbortController().signal): Promise<CheckReport> {
  const runner = createCheckRunner({ projectRoot: folder, timeoutMs: 60_000, maxOutputBytes: 20_000, maxFileBytes: 1_000_000 })
  const context = { folder, output: '', changed: [], baseFile: async () => undefined, keep: async () => 'sha256:0' as const }
  const report = await runner.run('c1', spec, context, signal)
  expect(CheckReport.parse(report)).toEqual(report)
  return report
}

const page =
  '<!doctype html><html lang=en><title>Bread</title><meta name=viewport content="width=device-width"><main><h1>Bread</h1></main></html>'

describe('an http check', () => {
  const http = (more: object): CheckSpec => ({ kind: 'http', allowPrivate: true, ...more })

  it('looks at status, headers and text, all of what is asked', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'x-one': 'a' }).end(page)
    })
    const headers = { 'Content-Type': 'text/html', 'x-one': 'a' }
    expect(await check(http({ url, headers, contains: ['<h1>Bread'] }))).toMatchObject({ outcome: 'pass', output: `GET ${url} → 200` })
    const report = await check(
      http({ url, status: 201, headers: { 'content-type': 'text/html; charset=latin1', 'x-two': 'b' }, contains: ['Cake', 'Bread'] }),
    )
    expect(report.outcome).toBe('fail')
    expect(report.output.split('\n')).toEqual([
      'answered 200; 201 is expected',
      'has the header content-type: text/html; charset=utf-8; "text/html; charset=latin1" is expected',
      'has no header x-two',
      'does not contain "Cake"',
      `GET ${url} → 200`,
    ])
  })

  it('reads the text in its own character set', async () => {
    const { url } = await serve((request, response) => {
      const charset = request.url === '/known' ? 'iso-8859-1' : 'no-such-set'
      response
        .writeHead(200, { 'content-type': `text/html; charset="${charset}"` })
        .end(Buffer.from('Bäcker', charset === 'iso-8859-1' ? 'latin1' : 'utf8'))
    })
    expect(await check(http({ url: `${url}known`, contains: ['Bäcker'] }))).toMatchObject({ outcome: 'pass' })
    expect(await check(http({ url: `${url}unknown`, contains: ['Bäcker'] }))).toMatchObject({ outcome: 'pass' })
  })

  it('follows as many redirects as it is told to', async () => {
    const { url, requests } = await serve((request, response) => {
      if (request.url === '/') response.writeHead(301, { location: '/next' }).end()
      else response.end('there')
    })
    expect(await check(http({ url }))).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('answered 301; 200 is expected') })
    expect(await check(http({ url, status: 301, headers: { location: '/next' } }))).toMatchObject({ outcome: 'pass' })
    expect(requests).toEqual(['/', '/'])
    expect(await check(http({ url, redirects: 1, contains: ['there'] }))).toMatchObject({
      outcome: 'pass',
      output: `GET ${url} → 301\nGET ${url}next → 200`,
    })
  })

  it('asks no address that is not public, unless it is told to', async () => {
    const { url, requests } = await serve((_request, response) => void response.end())
    expect(await check({ kind: 'http', url })).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('not public (loopback)'),
    })
    expect(await check(http({ url, hosts: ['example.com'] }))).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('hosts'),
    })
    expect(requests).toEqual([])
    expect(await check(http({ url, hosts: ['127.0.0.1'] }))).toMatchObject({ outcome: 'pass' })
  })

  it('fails where the page leads astray, and is an error where nobody answers', async () => {
    const { url } = await serve((_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end())
    expect(await check(http({ url, redirects: 3 }))).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('linkLocal') })
    const silent = await serve(() => undefined)
    expect(await check(http({ url: silent.url, timeout: '300ms' }))).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('within 300 ms'),
    })
    expect(silent.requests).toEqual(['/'])
    expect(await check(http({ url: 'http://127.0.0.1:1/' }))).toMatchObject({
      outcome: 'error',
      output: 'GET http://127.0.0.1:1/ → no complete answer',
    })
    const bomb = await serve(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
    )
    expect(await check(http({ url: bomb.url }))).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('more than 1000000 bytes'),
    })
    for (const more of [{}, { url, path: 'index.html' }]) expect(await check(http(more))).toMatchObject({ outcome: 'error' })
  })

  it('serves a page of the work to itself, and nothing else of this machine', async () => {
    mkdirSync(join(folder, 'site'))
    writeFileSync(join(folder, 'site', 'index.html'), page)
    writeFileSync(join(folder, '$(touch x)\n.html'), page)
    symlinkSync('/etc', join(folder, 'link'))
    for (const path of ['site/index.html', 'site', 'site/', './site//index.html', '$(touch x)\n.html'])
      expect(await check({ kind: 'http', path, contains: ['Bread'], headers: { 'content-type': 'text/html' } }), path).toMatchObject({
        outcome: 'pass',
      })
    expect(await check({ kind: 'http', path: 'site/index.html', hosts: ['example.com'] })).toMatchObject({ outcome: 'pass' })
    for (const path of ['absent.html', 'link', 'link/passwd', 'site/absent'])
      expect(await check({ kind: 'http', path }), path).toMatchObject({ outcome: 'fail' })
    for (const path of ['../x', '/etc/passwd']) expect(await check({ kind: 'http', path }), path).toMatchObject({ outcome: 'error' })
  })
})

describe('an html check', () => {
  it('looks at a page of the work', async () => {
    mkdirSync(join(folder, 'site'))
    writeFileSync(join(folder, 'site', 'index.html'), `\ufeff${page}`)
    for (const path of ['site/index.html', 'site', 'site/'])
      expect(await check({ kind: 'html', path }), path).toMatchObject({ outcome: 'pass' })
    writeFileSync(join(folder, 'bad.html'), '<img src=a>\n<h1>a</h1>\n<h1>b</h1>')
    const report = await check({ kind: 'html', path: 'bad.html', rules: ['h1', 'alt'] })
    expect(report).toMatchObject({ outcome: 'fail', output: '3:1: a further <h1>; exactly one is expected\n1:1: <img> has no alt' })
    expect(await check({ kind: 'html', path: 'bad.html', rules: ['main'] })).toMatchObject({ outcome: 'fail' })
  })

  it('fails or is an error where there is no page', async () => {
    mkdirSync(join(folder, 'empty'))
    symlinkSync('/etc/passwd', join(folder, 'link.html'))
    for (const path of ['absent.html', 'empty', 'link.html'])
      expect(await check({ kind: 'html', path }), path).toMatchObject({ outcome: 'fail' })
    expect(await check({ kind: 'html', path: '../x' })).toMatchObject({ outcome: 'error' })
    expect(await check({ kind: 'html' })).toMatchObject({ outcome: 'error' })
    writeFileSync(join(folder, 'big.html'), '')
    truncateSync(join(folder, 'big.html'), 5_000_000)
    expect(await check({ kind: 'html', path: 'big.html' })).toMatchObject({ outcome: 'error', summary: expect.stringContaining('4194304') })
    writeFileSync(join(folder, 'deep.html'), '<div>'.repeat(100_000))
    expect(await check({ kind: 'html', path: 'deep.html' })).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('512 levels'),
    })
  })

  it('looks at what an address answers, if that is a page', async () => {
    const { url, requests } = await serve((request, response) => {
      if (request.url === '/missing') response.writeHead(404, { 'content-type': 'text/html' }).end(page)
      else if (request.url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end(page)
      else response.end(page)
    })
    expect(await check({ kind: 'html', url })).toMatchObject({ outcome: 'error' })
    expect(requests).toEqual([])
    expect(await check({ kind: 'html', url, allowPrivate: true })).toMatchObject({ outcome: 'pass' })
    expect(await check({ kind: 'html', url: `${url}missing`, allowPrivate: true })).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('404'),
    })
    expect(await check({ kind: 'html', url: `${url}picture`, allowPrivate: true })).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('image/png'),
    })
  })
})
