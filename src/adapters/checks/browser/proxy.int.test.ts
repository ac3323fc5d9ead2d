import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Bench, chrome, openBench, page } from './testing/visit.ts'

let bench: Bench
beforeEach(() => {
  bench = openBench()
})

describe.skipIf(chrome === undefined)('what a page asks for', { timeout: 120_000 }, () => {
  const everything = (origin: string) => `<img src="${origin}/img" alt=""><iframe title="f" src="${origin}/frame"></iframe>
    <link rel="prefetch" href="${origin}/prefetch"><link rel="stylesheet" href="${origin}/css"><script src="${origin}/js"></script>
    <script>fetch('${origin}/fetch', { mode: 'no-cors' }).catch(() => {}); navigator.sendBeacon('${origin}/beacon', 'x')
    new WebSocket('${origin.replace('http', 'ws')}/socket'); new EventSource('${origin}/events')
    new Worker(URL.createObjectURL(new Blob(["fetch('${origin}/worker', { mode: 'no-cors' })"])))</script>`

  it('stays in the folder, for a page of the work', async () => {
    const asked: string[] = []
    const origin = await bench.listen((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    const result = await bench.check(page(everything(origin)), { rules: ['scroll'] })
    expect(asked).toEqual([])
    for (const path of ['img', 'frame', 'css', 'js', 'fetch']) expect(result.output).toContain(`blocked: ${origin}/${path}`)
    // Nothing is in the way but the rules: the same page may ask where it is let.
    const free = await bench.listen((_request, response) => response.setHeader('content-type', 'text/html').end(page(everything(origin))))
    await bench.check({ url: free, allowPrivate: true }, { rules: ['scroll'] })
    expect(asked).toEqual(expect.arrayContaining(['/img', '/frame', '/css', '/js', '/fetch', '/beacon', '/worker', '/socket']))
  })

  it('obeys the rules for addresses, for a page elsewhere and on every redirect', async () => {
    const asked: string[] = []
    const inner = await bench.listen((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    const port = new URL(inner).port
    const outer = await bench.listen((request, response) => {
      if (request.url === '/away') return response.writeHead(302, { location: `http://localhost:${port}/away` }).end()
      if (request.url === '/home') return response.writeHead(302, { location: '/' }).end()
      if (request.url === '/') response.setHeader('content-type', 'text/html')
      return response.end(request.url === '/' ? page(`<img alt="" src="http://localhost:${port}/img"><img alt="" src="/away">`) : undefined)
    })
    const hosts = ['127.0.0.1']
    const result = await bench.check({ url: `${outer}/home`, allowPrivate: true, hosts })
    expect(result.outcome).toBe('pass')
    expect(result.output).toMatch(/blocked: http:\/\/localhost:\d+\/img[\s\S]*blocked: http:\/\/localhost:\d+\/away/)
    expect(await bench.check({ url: `${outer}/away`, allowPrivate: true, hosts })).toMatchObject({
      outcome: 'error',
      output: expect.stringContaining('localhost'),
    })
    expect(asked).toEqual([])
    expect(await bench.check({ url: outer })).toMatchObject({ outcome: 'error', summary: expect.stringContaining('not public') })
  })

  it('does not go round the rules by calls', async () => {
    const udp = createSocket('udp4')
    let packets = 0
    udp.on('message', () => packets++)
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
    const place = `127.0.0.1:${udp.address().port}`
    const call = `<script>
      const line = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${place}' }, { urls: 'turn:${place}?transport=tcp', username: 'a', credential: 'b' }] })
      line.createDataChannel('x')
      line.createOffer().then((offer) => line.setLocalDescription(offer))
      line.onicegatheringstatechange = () => { document.body.dataset.gathered = line.iceGatheringState }
      const waiting = setInterval(() => document.body.dataset.gathered === 'complete' ? clearInterval(waiting) : fetch('/index.html'), 100)
      </script>`
    const result = await bench.check(page(call), { rules: ['viewport'] })
    expect(result.output).toContain(`blocked: https://${place}/`)
    expect(packets).toBe(0)
    await new Promise<void>((resolve) => udp.close(() => resolve()))
  })

  it('may be answered with nonsense', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        asked.push(/^GET (\S+)/.exec(data.toString())?.[1] ?? '')
        socket.end(`HTTP/1.1 ${asked.at(-1)?.slice(1).replace('%20', ' ')}\r\nx: \x01\r\n\r\n`)
      })
    })
    const asked: string[] = []
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const statuses = ['099%20x', '101%20Switching', '999%20x', '2000', 'x']
    const text = page(statuses.map((status) => `<img alt="" src="${origin}/${status}">`).join(''))
    const url = await bench.listen((_request, response) => response.setHeader('content-type', 'text/html').end(text))
    expect((await bench.check({ url, allowPrivate: true }, { rules: ['viewport'] })).outcome).toBe('pass')
    expect(new Set(asked)).toEqual(new Set(statuses.map((status) => `/${status}`)))
    await new Promise((resolve) => server.close(resolve))
  })

  it('is bounded', async () => {
    const url = await bench.listen((request, response) => {
      response.setHeader('content-type', request.url === '/' ? 'text/html' : 'text/plain')
      if (request.url === '/') return response.end(page('<script src="/flood"></script>'))
      const chunk = Buffer.alloc(1024 * 1024, 'x')
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pour)
      return pour()
    })
    expect(await bench.check({ url, allowPrivate: true }, { timeout: '40s' })).toMatchObject({
      outcome: 'error',
      summary: expect.stringMatching(/more than \d+ bytes|memory/),
    })
  })
})
