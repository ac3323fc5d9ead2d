/** Shorter values are placeholders for servers that want any key at all; taking them out would only spoil text. */
const shortestSecret = 8
/** Longest text in which pieces of a key are looked for too. */
const longestForPieces = 20_000
const piece = 10
const replacement = '[key removed]'

/** Takes a key out of a text. */
export type Redact = (text: string) => string

/**
 * Removes every trace of a key from text that leaves the adapter: the key, its usual encodings and, in short texts such as error messages, pieces
 * of it, because servers like to quote the beginning or the end.
 */
export function redactor(key: string | undefined): Redact {
  if (key === undefined || key.length < shortestSecret) return (text) => text
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), ...encodings(key)])]
  return (text) => {
    let clean = text
    for (const form of forms) clean = clean.replaceAll(form, replacement)
    return clean.length > longestForPieces ? clean : withoutPieces(clean, key)
  }
}

/** How the key looks inside any longer text that was encoded: base64 depends on where in a group of three bytes it begins. */
function encodings(key: string): string[] {
  const aligned = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(key)]).toString('base64')
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + key.length) * 8) / 6))
  })
  return [...aligned, ...aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')), Buffer.from(key).toString('hex')]
}

/** Without any run of characters, in whatever case, that the key has too. */
function withoutPieces(text: string, key: string): string {
  const secret = key.toLowerCase()
  const plain = text.toLowerCase()
  if (plain.length !== text.length || secret.length < piece) return text
  const pieces = new Set(Array.from({ length: secret.length - piece + 1 }, (_, start) => secret.slice(start, start + piece)))
  let clean = ''
  let kept = 0
  let at = 0
  while (at + piece <= plain.length) {
    if (!pieces.has(plain.slice(at, at + piece))) {
      at += 1
      continue
    }
    let end = at + piece
    while (pieces.has(plain.slice(end - piece + 1, end + 1))) end += 1
    clean += text.slice(kept, at) + replacement
    kept = end
    at = end
  }
  return clean + text.slice(kept)
}
