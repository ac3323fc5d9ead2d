import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { type Inside, openInside } from '../inside.ts'
import { mediaTypeOf } from './media-type.ts'

/** One folder as a web server shows it, on an address of this machine that nobody else knows. */
export interface ServedFolder {
  /** Scheme, address and port, without a slash at the end. */
  origin: string
  /** Address of a file or folder; a folder is written with a slash at the end. */
  urlOf(path: string): string
  /** Ends every connection at once; may be called again. */
  close(): Promise<void>
}

const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 2_000 }
const mostConnections = 64
const mostIdleMs = 30_000

/** Serves a folder that somebody else has filled: plain files and `index.html`, GET and HEAD, never through a link, never a listing. */
export async function serveFolder(folder: string): Promise<ServedFolder> {
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 })
  server.maxConnections = mostConnections
  server.setTimeout(mostIdleMs)
  const port = await listen(server)
  const host = `127.0.0.1:${port}`
  const answers = new Set<Promise<void>>()
  server.on('request', (request, response) => {
    const answered = answer(folder, host, request, response).finally(() => answers.delete(answered))
    answers.add(answered)
  })
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  return {
    origin: `http://${host}`,
    urlOf: (path) => `http://${host}/${encodedPath(path)}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await Promise.all([closed, ...answers])
    },
  }
}

async function listen(server: Server): Promise<number> {
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function encodedPath(path: string): string {
  const slash = path.endsWith('/') ? '/' : ''
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  return steps.length === 0 ? '' : steps.map(encodeURIComponent).join('/') + slash
}

async function answer(folder: string, host: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  // A page of another origin that reaches this port by a name of its own must get nothing.
  if (request.headers.host !== host) return refuse(response, 421, 'this host is not served here')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return refuse(response, 405, 'only GET and HEAD are served')
  }
  const place = placeOf(request.url ?? '')
  if (place === undefined) return refuse(response, 404, 'not found')
  try {
    await send(folder, place, request, response)
  } catch (error) {
    // The file cannot be read, or the reader went away: either way the rest of this answer is lost, and must look lost.
    if (response.headersSent) response.destroy(error as Error)
    else refuse(response, 500, 'the file cannot be read')
  }
}

/** The path that a request means, decoded; undefined for what no file can be called. */
function placeOf(target: string): { path: string; slash: boolean } | undefined {
  if (!target.startsWith('/')) return undefined
  const { pathname } = new URL(`http://127.0.0.1/${target.slice(1).replace(/^\/+/, '')}`)
  try {
    const steps = pathname
      .split('/')
      .filter((step) => step !== '')
      .map(decodeURIComponent)
    if (steps.some((step) => /[/\\\0]/.test(step))) return undefined
    return { path: steps.length === 0 ? '.' : steps.join('/'), slash: pathname.endsWith('/') }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

async function send(
  folder: string,
  { path, slash }: { path: string; slash: boolean },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const found = await openInside(folder, path)
  if (found.kind === 'folder' && !slash) return redirect(response, path)
  if (found.kind === 'folder') {
    const name = path === '.' ? 'index.html' : `${path}/index.html`
    return await sendFile(await openInside(folder, name), name, request, response)
  }
  if (slash && found.kind === 'file') {
    await found.handle.close()
    return refuse(response, 404, 'not found')
  }
  await sendFile(found, path, request, response)
}

async function sendFile(found: Inside, name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (found.kind !== 'file') return refuse(response, 404, 'not found')
  try {
    response.writeHead(200, { 'content-type': mediaTypeOf(name), 'content-length': found.size })
    if (request.method === 'HEAD' || found.size === 0) {
      response.end()
      return
    }
    await pipeline(found.handle.createReadStream({ start: 0, end: found.size - 1, autoClose: false }), response)
  } finally {
    await found.handle.close()
  }
}

/** Relative links of a folder's page only work below an address that ends in a slash. */
function redirect(response: ServerResponse, path: string): void {
  response.writeHead(308, { location: `/${encodedPath(`${path}/`)}`, 'content-length': 0 })
  response.end()
}

function refuse(response: ServerResponse, status: number, why: string): void {
  const body = `${why}\n`
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(body) })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
