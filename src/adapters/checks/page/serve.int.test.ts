import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedFolder, serveFolder } from './serve.ts'

let outside: string
let folder: string
let served: ServedFolder
beforeEach(async () => {
  outside = mkdtempSync(join(tmpdir(), 'assay-serve-'))
  folder = join(outside, 'work')
  mkdirSync(join(folder, 'docs', 'empty'), { recursive: true })
  for (const [path, text] of Object.entries({
    'index.html': '<h1>home</h1>',
    'docs/index.html': 'docs',
    'a b&c?.txt': 'odd',
    'style.css': 'a{}',
  }))
    writeFileSync(join(folder, path), text)
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  served = await serveFolder(folder)
})
afterEach(async () => {
  await served.close()
  rmSync(outside, { recursive: true, force: true })
})

interface Answer {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** Sends the target as it is: `fetch` would mend it first. */
async function ask(
  target: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const port = Number(new URL(served.origin).port)
  return await new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: target, method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('a served folder', () => {
  it('shows files with their types, and a folder by its page', async () => {
    expect(await ask('/')).toMatchObject({ status: 200, body: '<h1>home</h1>', headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(await ask('/docs/?x=1')).toMatchObject({ status: 200, body: 'docs' })
    expect(await ask('/docs')).toMatchObject({ status: 308, headers: { location: '/docs/' } })
    expect(await ask('/style.css')).toMatchObject({ status: 200, headers: { 'content-type': 'text/css; charset=utf-8' } })
  })

  it('has an address for every name', async () => {
    const response = await fetch(served.urlOf('a b&c?.txt'))
    expect([response.status, await response.text()]).toEqual([200, 'odd'])
    expect(served.urlOf('./docs//')).toBe(`${served.origin}/docs/`)
    expect(served.urlOf('.')).toBe(`${served.origin}/`)
  })

  it('has no listing, and nothing that is not there', async () => {
    for (const target of ['/docs/empty/', '/absent', '/index.html/', '/docs/empty/x'])
      expect(await ask(target), target).toMatchObject({ status: 404 })
  })

  it('answers HEAD without a body and refuses every other method', async () => {
    expect(await ask('/index.html', { method: 'HEAD' })).toMatchObject({ status: 200, body: '', headers: { 'content-length': '13' } })
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) expect(await ask('/', { method })).toMatchObject({ status: 405 })
  })

  it('refuses other hosts', async () => {
    for (const host of ['evil.example', 'localhost', '127.0.0.1', '127.0.0.1:1'])
      expect(await ask('/', { headers: { host } })).toMatchObject({ status: 421 })
  })

  it.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/docs/..%2f..%2fsecret.txt',
    '/docs/%2e%2e%5c..%5csecret.txt',
    '//secret.txt',
    '/%00',
    '/%ff',
    '/%',
    'http://127.0.0.1/index.html',
    '/link.txt',
    '/way/secret.txt',
    '/fifo',
    `/${'a/'.repeat(3000)}`,
  ])('gives nothing away for %j', async (target) => {
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'))
    symlinkSync(outside, join(folder, 'way'))
    execFileSync('mkfifo', [join(folder, 'fifo')])
    expect(await ask(target)).toMatchObject({ status: 404, body: 'not found\n' })
  })

  it('sends large and empty files whole', async () => {
    writeFileSync(join(folder, 'big.bin'), '')
    expect(await ask('/big.bin')).toMatchObject({ status: 200, body: '' })
    truncateSync(join(folder, 'big.bin'), 3_000_000)
    expect((await ask('/big.bin')).body).toHaveLength(3_000_000)
  })

  it('refuses headers without end', async () => {
    expect(await ask('/', { headers: { x: 'a'.repeat(20_000) } })).toMatchObject({ status: 431 })
  })

  it('closes at once, with connections open and answers half sent', async () => {
    writeFileSync(join(folder, 'big.bin'), '')
    truncateSync(join(folder, 'big.bin'), 50_000_000)
    const { host, port } = new URL(served.origin)
    const idle = connect(Number(port), '127.0.0.1')
    const reading = connect(Number(port), '127.0.0.1', () => reading.write(`GET /big.bin HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
    const ended = Promise.all(
      [idle, reading].map((socket) => new Promise<void>((resolve) => socket.on('error', () => undefined).on('close', () => resolve()))),
    )
    await new Promise((resolve) => reading.once('readable', resolve))
    await served.close()
    reading.resume()
    idle.resume()
    await ended
    await expect(fetch(served.origin)).rejects.toThrow()
    await served.close()
  })
})
