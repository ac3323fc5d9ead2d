import { readUpTo } from '../process/files/plain-file.ts'
import { type Inside, openInside } from './inside.ts'

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
