import { marked, visible } from '../../contract/source/shown.ts'

/**
 * Puts untrusted text between fences that carry the review's nonce. The worker does not know the nonce; a look-alike fence is escaped all the same.
 */
export function fence(nonce: string, label: string, text: string): string {
  const shown = marked(text).replaceAll('<<<', '‹‹‹').replaceAll('>>>', '›››').replaceAll(nonce, '⟦nonce⟧')
  const name = visible(label).replaceAll('<<<', '‹‹‹').replaceAll('>>>', '›››').replaceAll(nonce, '⟦nonce⟧')
  return `<<<${name} ${nonce}\n${shown}\n${name} ${nonce}>>>`
}

/** Fits texts into a budget in order; what does not fit is named with its size, never cut silently. */
export function fitParts(parts: { name: string; text: string }[], budget: number): { name: string; text: string }[] {
  let left = budget
  return parts.map(({ name, text }) => {
    if (text.length <= left) {
      left -= text.length
      return { name, text }
    }
    return { name, text: `[${name}: ${text.length} characters, left out because the prompt is limited; read it in the snapshot]` }
  })
}
