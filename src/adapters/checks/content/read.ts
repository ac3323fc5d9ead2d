import { readUpTo } from '../../process/files/plain-file.ts'
import { type Inside, openInside } from '../inside.ts'

/** A text, or why there is none: because of the work, or because the check asks for what cannot be had. */
export type Content = { text: string } | { fault: 'work' | 'check'; why: string }

/** The content of a file of the work as text. */
export async function readContent(folder: string, path: string, maxBytes: number): Promise<Content> {
  return await contentOf(await openInside(folder, path), maxBytes)
}

/** Reads what was opened and closes it. */
export async function contentOf(found: Inside, maxBytes: number): Promise<Content> {
  if (found.kind !== 'file') return absence(found)
  try {
    const read = await readUpTo(found.handle, maxBytes)
    return 'bytes' in read ? { text: read.bytes.toString('utf8') } : { fault: 'check', why: read.message }
  } finally {
    await found.handle.close()
  }
}

function absence(found: Exclude<Inside, { kind: 'file' }>): Content {
  if (found.kind === 'bad_path') return { fault: 'check', why: found.why }
  if (found.kind === 'refused') return { fault: 'work', why: found.why }
  return { fault: 'work', why: found.kind === 'missing' ? 'it does not exist' : 'it is a folder' }
}

const headBytes = 8 * 1024

/** Bytes of what was opened, which is closed. A file that begins like a binary one may be of any size: it is not read. */
export async function readBytes(
  { handle }: Extract<Inside, { kind: 'file' }>,
  maxBytes: number,
): Promise<{ bytes: Buffer } | { binary: true } | { why: string }> {
  try {
    const head = Buffer.alloc(headBytes)
    const { bytesRead } = await handle.read(head, 0, headBytes, 0)
    if (decodeText(head.subarray(0, bytesRead)) === undefined) return { binary: true }
    const read = await readUpTo(handle, maxBytes)
    return 'bytes' in read ? read : { why: read.message }
  } finally {
    await handle.close()
  }
}

/** Bytes as text, by their byte order mark or as UTF-8; undefined for what is binary. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const mark = `${bytes[0]?.toString(16)}${bytes[1]?.toString(16)}`
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8'
  if (encoding === 'utf-8' && bytes.includes(0)) return undefined
  return new TextDecoder(encoding).decode(bytes)
}

const textName =
  /\.(?:html?|xhtml|css|scss|less|[cm]?[jt]sx?|vue|svelte|json5?|ya?ml|toml|ini|xml|svg|md|markdown|txt|rst|adoc|csv|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|sh|sql|tex)$/i

/** Whether a file is called like one that people write. */
export function hasTextName(path: string): boolean {
  return textName.test(path)
}
