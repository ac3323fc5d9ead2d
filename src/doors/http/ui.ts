import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import type { Reply } from './answer/reply.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.map': 'application/json',
}

/** Pages run their own scripts alone, speak to this server alone, and are framed by nobody. */
const guarding = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

const missing = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Assay</title>
<h1>Assay</h1><p>The web pages were not built. The API is at <code>/v1</code>; its document at <code>/v1/openapi.json</code>.</p></html>
`

/** A file of the web pages. Whatever is no file is a page of the application, which finds its way itself. */
export async function uiFile(folder: string | undefined, path: string): Promise<Reply> {
  const html = { ...guarding, 'content-type': types['.html'] ?? '', 'cache-control': 'no-cache' }
  if (folder === undefined) return { status: path === '/' ? 200 : 404, headers: html, body: missing }
  const found = await fileIn(folder, path)
  if (!found && extname(path) !== '') return { status: 404, headers: html, body: missing }
  const body = found ?? (await fileIn(folder, '/index.html'))
  if (!body) return { status: 404, headers: html, body: missing }
  const type = found && path !== '/' ? (types[extname(path)] ?? 'application/octet-stream') : html['content-type']
  const kept = path.startsWith('/assets/') && found ? 'public, max-age=31536000, immutable' : 'no-cache'
  return { status: 200, headers: { ...guarding, 'content-type': type, 'cache-control': kept }, body }
}

/** Bytes of a file that truly lies in the folder: neither `..` nor a link leads out of it. */
async function fileIn(folder: string, path: string): Promise<Uint8Array | undefined> {
  try {
    const root = await realpath(folder)
    const place = await realpath(join(root, decodeURIComponent(path)))
    return place.startsWith(`${root}${sep}`) ? await readFile(place) : undefined
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(code ?? '') || name === 'URIError')
      return undefined
    throw error
  }
}
