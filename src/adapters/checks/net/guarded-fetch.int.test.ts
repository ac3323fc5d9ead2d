import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { guardedFetch } from './guarded-fetch.ts'
import type { FetchRules } from './rules.ts'

const never = new AbortController().signal
const rules: FetchRules = { timeoutMs: 60_000 }
const open: { close(): unknown }[] = []

async function listen(handler: RequestListener, host = '127.0.0.1', wanted = 0): Promise<{ server: Server; port: number }> {
  const server = createServer(handler)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, host, resolve))
  open.push({
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return { server, port: (server.address() as AddressInfo).port }
}
afterEach(async () => void (await Promise.all(open.splice(0).map(({ close }) => close()))))

/** Servers of this machine that nobody may reach: they count connections and requests. */
const canary: { port: number; touches: number; server: Server }[] = []
for (const host of ['127.0.0.1', '::1']) {
  const server = createServer((_request, response) => void response.end('reached'))
  const failed = await new Promise((resolve) => server.once('error', resolve).listen(0, host, () => resolve(undefined)))
  if (failed) console.warn(`no server on ${host}: ${failed}; enable IPv6 on this machine`)
  else {
    const found = { port: (server.address() as AddressInfo).port, touches: 0, server }
    for (const event of ['connection', 'request']) server.on(event, () => found.touches++)
    canary.push(found)
  }
}
const loopback6Served = canary.length === 2
afterAll(() => {
  for (const { server } of canary) {
    server.closeAllConnections()
    server.close()
  }
})
const touched = (): number => canary.reduce((sum, { touches }) => sum + touches, 0)

/** This machine, as an attacker writes it. */
const loopback = [
  ...'localhost LOCALHOST ⓛⓞⓒⓐⓛⓗⓞⓢⓣ lo%63alhost 127.0.0.1 127.0.0.1. 127.1 127.0.1'.split(' '),
  ...'0x7f.0.0.1 0x7f.1 0X7F.0x0.0x0.0x1 2130706433 0x7f000001 0X7F000001 017700000001 00000000000000017700000001'.split(' '),
  ...'0177.0.0.01 0177.1 127.0x1 127.0.0x0.1 １２７.０.０.１ 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1'.split(' '),
  ...['loc\talhost', '12\n7.0.0.1'],
  ...'0 0.0.0.0 0.0 00.0x0 0x0 000000000000'.split(' '),
]
const loopback6 = '[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0001] [::] [::0.0.0.1] [0::1]'.split(' ')

/** Other networks that are not public, and ways through other protocols to this machine. */
const elsewhere = [
  ...'localhost. 127.127.127.127 127.0.0.255 0.1.2.3 10.0.0.1 10.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 0xc0a80101 100.64.0.1 100.127.255.255'.split(
    ' ',
  ),
  ...'169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255'.split(' '),
  ...'4294967295 192.0.2.1 198.51.100.7 203.0.113.9 198.18.0.1 192.0.0.8 192.88.99.1'.split(' '),
  ...'[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:0001] [::FFFF:127.0.0.1] [::127.0.0.1] [::ffff:0:127.0.0.1]'.split(' '),
  ...'[::ffff:a9fe:a9fe] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:0001::1]'.split(' '),
  ...'[2001:0:7f00:1::] [fe80::1] [fe80::1%25lo] [fc00::1] [fd12:3456:789a::1] [fec0::1] [ff02::1] [2001:db8::1]'.split(' '),
  ...'[100::1] [3fff::1] [fd00:ec2::254]'.split(' '),
]
const attacks = [...loopback, ...loopback6, ...elsewhere]

describe('addresses that are not public', () => {
  it('are many', () => expect(new Set(attacks).size).toBeGreaterThan(90))

  it.each(attacks)('are refused before a connection is made: %s', async (host) => {
    const before = touched()
    const lookup: FetchRules['lookup'] = async (name) => [{ address: name.includes('::') ? '::1' : '127.0.0.1' }]
    for (const { port } of canary) {
      for (const scheme of ['http', 'https']) {
        for (const extra of [{}, { lookup }]) {
          const fetched = await guardedFetch(`${scheme}://${host}:${port}/`, { ...rules, ...extra }, never)
          expect(fetched).toMatchObject({ ok: false, hops: [] })
          expect(['address_refused', 'bad_url', 'unresolved']).toContain('code' in fetched && fetched.code)
        }
      }
    }
    expect(touched()).toBe(before)
  })

  it.each(['ftp', 'file', 'gopher', 'ws', 'wss', 'data', 'javascript', 'blob', 'unix', 'http+unix', 'view-source:http'])(
    'nor are other schemes asked: %s',
    async (scheme) => {
      const before = touched()
      for (const { port } of canary)
        expect(await guardedFetch(`${scheme}://127.0.0.1:${port}/`, { ...rules, allowPrivate: true }, never)).toMatchObject({
          code: 'bad_url',
        })
      expect(touched()).toBe(before)
    },
  )

  it.each([
    'http://user@127.0.0.1:PORT/',
    'http://user:pass@example.com:PORT/',
    'http://example.com@127.0.0.1:PORT/',
    'http://:p@127.0.0.1:PORT/',
    'http://',
    'not an address',
    '//127.0.0.1:PORT/',
    '',
  ])('nor are tricks with names: %s', async (address) => {
    const before = touched()
    for (const { port } of canary)
      expect(await guardedFetch(address.replace('PORT', `${port}`), { ...rules, allowPrivate: true }, never)).toMatchObject({
        code: 'bad_url',
      })
    expect(touched()).toBe(before)
  })

  // An attack that would not work anyhow proves nothing.
  it.each([...loopback, ...(loopback6Served ? loopback6 : [])])('reach this machine where nobody looks: %s', async (host) => {
    const before = touched()
    const asked = canary.map(({ port }) => fetch(`http://${host}:${port}/`).then((answer) => answer.text()))
    const answers = await Promise.allSettled(asked)
    expect(answers).toContainEqual({ status: 'fulfilled', value: 'reached' })
    expect(touched()).toBeGreaterThan(before)
  })
})

describe('names', () => {
  const url = (port: number) => `http://shop.example:${port}/`

  it('with one public and one private address are refused', async () => {
    let requests = 0
    const { port } = await listen((_request, response) => void response.end(`${++requests}`))
    for (const addresses of [
      ['93.184.216.34', '127.0.0.1'],
      ['127.0.0.1', '93.184.216.34'],
      ['2606:4700::1111', '::ffff:127.0.0.1'],
      ['93.184.216.34', 'fe80::1%lo'],
    ]) {
      const lookup = async () => addresses.map((address) => ({ address }))
      expect(await guardedFetch(url(port), { ...rules, lookup }, never)).toMatchObject({ code: 'address_refused', hops: [] })
    }
    expect(requests).toBe(0)
  })

  it('are looked up, addresses in their place are not: they mean what they say', async () => {
    const before = touched()
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      return [{ address: '3000::1' }]
    }
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]']) {
      for (const { port } of canary)
        expect(await guardedFetch(`http://${host}:${port}/`, { ...rules, lookup }, never)).toMatchObject({ code: 'address_refused' })
    }
    expect([asked, touched()]).toEqual([[], before])
  })

  it('that mean something else the second time are asked for once, and the first answer is connected to', async () => {
    let requests = 0
    const { port } = await listen((_request, response) => void response.end(`${++requests}`))
    let asked = 0
    // Public, and in a range that nobody was given: connections to it go nowhere.
    const nowhere = '3000::1'
    const flip: FetchRules['lookup'] = async () => [{ address: asked++ === 0 ? nowhere : '127.0.0.1' }]
    const first = await guardedFetch(url(port), { timeoutMs: 500, lookup: flip }, never)
    expect(first).toMatchObject({ ok: false, hops: [{ addresses: [nowhere] }] })
    expect(['no_answer', 'timed_out']).toContain('code' in first && first.code)
    expect([asked, requests]).toEqual([1, 0])
    // The other way round: the first answer is allowed and works; the second, which nobody may ask for, leads elsewhere.
    asked = 0
    const away: FetchRules['lookup'] = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2' }]
    const fetched = await guardedFetch(url(port), { ...rules, lookup: away, allowPrivate: true }, never)
    expect(fetched).toMatchObject({ ok: true, hops: [{ addresses: ['127.0.0.1'] }] })
    expect([asked, requests]).toEqual([1, 1])
  })

  it('are looked up and checked again on every hop', async () => {
    let requests = 0
    const { port } = await listen((request, response) => {
      requests++
      response.writeHead(302, { location: `http://shop.example:${port}${request.url}x` }).end()
    })
    // Rebinding between hops: allowed at first, then an address that never is.
    const answers = ['127.0.0.1', '127.0.0.1', '169.254.169.254']
    let asked = 0
    const lookup: FetchRules['lookup'] = async () => [{ address: answers[asked++] ?? '169.254.169.254' }]
    const fetched = await guardedFetch(url(port), { ...rules, lookup, allowPrivate: true, redirects: 10 }, never)
    expect(fetched).toMatchObject({ code: 'address_refused', hops: [{ status: 302 }, { status: 302 }] })
    expect([asked, requests]).toEqual([3, 2])
  })

  it('stay in the Host header and in what TLS asks for', async () => {
    const hosts: (string | undefined)[] = []
    const { port } = await listen((request, response) => {
      hosts.push(request.headers.host)
      response.end()
    })
    const lookup = async () => [{ address: '127.0.0.1' }]
    const allowed = { ...rules, lookup, allowPrivate: true }
    expect(await guardedFetch(`http://Shop.Example:${port}/`, allowed, never)).toMatchObject({ ok: true, status: 200 })
    expect(hosts).toEqual([`shop.example:${port}`])
    const names: string[] = []
    const tls = createTlsServer({
      SNICallback: (name, done) => {
        names.push(name)
        done(new Error('no certificate'))
      },
    })
    tls.on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => tls.close(resolve)) })
    const secure = `https://shop.example:${(tls.address() as AddressInfo).port}/`
    expect(await guardedFetch(secure, allowed, never)).toMatchObject({ ok: false, code: 'no_answer', hops: [{ url: secure }] })
    expect(names).toEqual(['shop.example'])
  })

  it('without an address, or with too many, are refused; a lookup that hangs ends at the deadline', async () => {
    const none = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    expect(await guardedFetch('http://a.example/', { ...rules, lookup: none }, never)).toMatchObject({ code: 'unresolved' })
    expect(await guardedFetch('http://a.example/', { ...rules, lookup: async () => [] }, never)).toMatchObject({ code: 'unresolved' })
    const many = async () => Array.from({ length: 100 }, () => ({ address: '8.8.8.8' }))
    expect(await guardedFetch('http://a.example/', { ...rules, lookup: many }, never)).toMatchObject({ code: 'address_refused' })
    const hangs = () => new Promise<never>(() => undefined)
    expect(await guardedFetch('http://a.example/', { timeoutMs: 100, lookup: hangs }, never)).toMatchObject({ code: 'timed_out' })
    expect(await guardedFetch('http://a.example/', { ...rules, lookup: hangs }, AbortSignal.abort())).toMatchObject({ code: 'stopped' })
  })
})

describe('hosts that are listed', () => {
  const ask = async (host: string, hosts: string[]) => {
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      return [{ address: '240.0.0.1' }]
    }
    const fetched = await guardedFetch(`http://${host}/`, { ...rules, hosts, lookup }, never)
    return 'code' in fetched && fetched.code === 'address_refused' && asked.length === 1
  }

  it.each<[string, string[], boolean]>([
    ['example.com', ['example.com'], true],
    ['EXAMPLE.com.', ['Example.COM'], true],
    ['example.com:8080', ['example.com'], true],
    ['example.com:8080', ['example.com:8080'], true],
    ['example.com', ['example.com:8080'], false],
    ['example.com', ['example.com:80'], true],
    ['www.example.com', ['example.com'], false],
    ['www.example.com', ['*.example.com'], true],
    ['a.b.example.com', ['*.example.com'], true],
    ['example.com', ['*.example.com'], false],
    ['evilexample.com', ['*.example.com', 'example.com'], false],
    ['example.com.evil.test', ['*.example.com', 'example.com'], false],
    ['bücher.example', ['bücher.example'], true],
    ['xn--bcher-kva.example', ['bücher.example'], true],
    ['example.com', [], false],
    ['example.com', ['', '*.', 'http://example.com'], false],
  ])('%s against %j: %s', async (host, hosts, expected) => {
    expect(await ask(host, hosts)).toBe(expected)
  })
})

describe('redirects', () => {
  const allowed = { ...rules, allowPrivate: true }
  const redirectTo = async (location: (port: number) => string, status = 302) => {
    const seen: IncomingMessage[] = []
    const { port } = await listen((request, response) => {
      seen.push(request)
      if (request.url === '/end') response.end('the end')
      else response.writeHead(status, { location: location(port) }).end('moved')
    })
    return { seen, url: `http://127.0.0.1:${port}/`, origin: `http://127.0.0.1:${port}` }
  }

  it('are the answer unless they are to be followed', async () => {
    const { url, seen } = await redirectTo(() => '/end')
    const fetched = await guardedFetch(url, allowed, never)
    expect(fetched).toMatchObject({ ok: true, status: 302, url, hops: [{ status: 302 }] })
    expect(fetched.ok && [fetched.headers.get('location'), fetched.body.toString()]).toEqual(['/end', 'moved'])
    expect(seen).toHaveLength(1)
  })

  it.each([301, 302, 303, 307, 308])('are followed where they are to be: %i', async (status) => {
    const { url, origin } = await redirectTo(() => '/end', status)
    const fetched = await guardedFetch(url, { ...allowed, redirects: 1 }, never)
    expect(fetched).toMatchObject({ ok: true, status: 200, url: `${origin}/end`, hops: [{ status }, { status: 200 }] })
    expect(fetched.ok && fetched.body.toString()).toBe('the end')
  })

  it('that never end, end', async () => {
    const { url, seen } = await redirectTo(() => '/again')
    expect(await guardedFetch(url, { ...allowed, redirects: 5 }, never)).toMatchObject({ code: 'too_many_redirects' })
    expect(seen).toHaveLength(6)
  })

  it.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://[::1]:PORT/',
    'http://0x7f.1:PORT/',
    '//127.0.0.1:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    '\\\\127.0.0.1:PORT/',
  ])('to this machine are refused even from an origin that we serve: %s', async (location) => {
    const before = touched()
    for (const { port } of canary) {
      const { url, origin, seen } = await redirectTo(() => location.replace('PORT', `${port}`))
      const fetched = await guardedFetch(url, { ...rules, ownOrigin: origin, redirects: 5 }, never)
      expect(fetched).toMatchObject({ code: 'address_refused', hops: [{ status: 302 }] })
      expect(seen).toHaveLength(1)
    }
    expect(touched()).toBe(before)
  })

  it.each([
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://u:p@127.0.0.1/',
    `http://127.0.0.1/${'a'.repeat(9000)}`,
    'http://[',
  ])('to what is not asked are refused: %s', async (location) => {
    const { url, seen } = await redirectTo(() => location)
    expect(await guardedFetch(url, { ...allowed, redirects: 5 }, never)).toMatchObject({ code: 'bad_url', hops: [{ status: 302 }] })
    expect(seen).toHaveLength(1)
  })

  it('to hosts that are not listed are refused', async () => {
    const { url, seen } = await redirectTo((port) => `http://localhost:${port}/end`)
    const fetched = await guardedFetch(url, { ...allowed, hosts: ['127.0.0.1'], redirects: 5 }, never)
    expect(fetched).toMatchObject({ code: 'host_refused', hops: [{ status: 302 }] })
    expect(seen).toHaveLength(1)
  })

  it('carry nothing along, and nothing is sent that was not asked for', async () => {
    const { url, seen } = await redirectTo(() => '/end')
    await guardedFetch(`${url}?q=1#fragment`, { ...allowed, redirects: 1 }, never)
    expect(seen.map((request) => [request.method, request.url])).toEqual([
      ['GET', '/?q=1'],
      ['GET', '/end'],
    ])
    for (const { headers } of seen)
      expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  })
})

describe('a server that nobody answers on', () => {
  it('is said to give no answer', async () => {
    const server = createTcpServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await guardedFetch(`http://127.0.0.1:${port}/`, { ...rules, allowPrivate: true }, never)).toMatchObject({
      code: 'no_answer',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
