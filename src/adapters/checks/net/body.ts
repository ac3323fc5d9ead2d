import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { excerpt } from '../../../contract/source/shown.ts'
import { type FetchRefusal, refusal } from './rules.ts'

const decoders = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** What a request offers: all that can be unpacked. */
export const acceptEncoding = 'gzip, deflate, br'

/** The whole body, unpacked while it comes in and counted once unpacked: a bomb costs no more than the limit. */
export async function readBody(body: Readable, encoding: string, maxBytes: number): Promise<{ body: Buffer } | FetchRefusal> {
  const coding = encoding.trim().toLowerCase()
  const isPlain = coding === '' || coding === 'identity'
  const decoder = decoders.get(coding)?.()
  if (!isPlain && decoder === undefined) return refusal('bad_encoding', `the body is packed in a way that is not known: ${excerpt(coding)}`)
  // An error of either stream reaches the one that is read from, and with it the reader below.
  const unpacked = decoder === undefined ? body : pipeline(body, decoder, () => undefined)
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of unpacked) {
      length += chunk.length
      if (length > maxBytes) return refusal('body_too_large', `the body has more than ${maxBytes} bytes, the most that is read`)
      chunks.push(chunk)
    }
    return { body: Buffer.concat(chunks, length) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code?.startsWith('Z_') || code?.startsWith('ERR__ERROR_') || code?.startsWith('ERR_BROTLI'))
      return refusal('bad_encoding', `the body cannot be unpacked: ${code}`)
    throw error
  } finally {
    body.destroy()
    decoder?.destroy()
  }
}
