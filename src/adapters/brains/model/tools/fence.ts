import { marked, visible } from '../../../../contract/source/shown.ts'

/** Puts text of the work between fences that carry the review's nonce. What looks like a fence, or like the nonce, is escaped. */
export function fenced(nonce: string, label: string, text: string): string {
  const name = harmless(nonce, visible(label))
  return `<<<${name} ${nonce}\n${harmless(nonce, marked(text))}\n${name} ${nonce}>>>`
}

function harmless(nonce: string, text: string): string {
  return text.replaceAll('<<<', '‹‹‹').replaceAll('>>>', '›››').replaceAll(nonce, '⟦nonce⟧')
}
