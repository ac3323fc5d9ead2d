import { sha256Hex } from '../../contract/canonical.ts'

/** Bytes of a slug: two of them and more fit into a file name and into a task id. */
const longest = 80

/**
 * A name made of letters, digits and dashes, for ids, streams and folders. The same text always gives the same slug;
 * one that was cut, or that has nothing to make a slug of, carries a piece of its hash.
 */
export function slugOf(text: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  if (plain !== '' && bytes(plain) <= longest) return plain
  const hash = sha256Hex(text).slice(0, 8)
  let kept = ''
  for (const character of plain) {
    if (bytes(kept) + bytes(character) + hash.length + 1 > longest) break
    kept += character
  }
  return kept === '' ? hash : `${kept}-${hash}`
}

/** One slug for each text, in order; of texts that share one, the later carry a piece of their hash. The texts differ. */
export function uniqueSlugs(texts: readonly string[]): string[] {
  const taken = new Set<string>()
  return texts.map((text) => {
    const slug = slugOf(text)
    let unique = slug
    for (let length = 8; taken.has(unique); length++) unique = `${slug}-${sha256Hex(text).slice(0, length)}`
    taken.add(unique)
    return unique
  })
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length
}
