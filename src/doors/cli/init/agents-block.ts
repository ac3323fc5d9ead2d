import { sha256Hex } from '../../../contract/canonical.ts'

const start = '<!-- assay:start -->'
const lines = `## Reviewed by Assay

Work in this project is reviewed by somebody else before it counts as done.

- Say what was done and where: every acceptance criterion with a pointer (\`path:line\`), honestly, doubts included.
- Checks run first; what they run is not yours to change. Judges see a snapshot, not this conversation.
- A rejection comes with points: answer each. \`assay why <task>\` says what is missing, \`assay ledger <task>\` what was decided.
- Never edit \`assay.yaml\`, \`.assay/\` or a mission to make work pass.
`
const digest = sha256Hex(lines).slice(0, 16)
const block = `${start}\n${lines}<!-- assay:end ${digest} -->`

export type BlockState = 'absent' | 'unchanged' | 'changed'

const written = /<!-- assay:start -->\n(?<lines>[\s\S]*?)<!-- assay:end (?<digest>[0-9a-f]{16}) -->/

/** Whether a text has the block, whichever version wrote it, and whether anybody changed it since. */
export function blockState(text: string): BlockState {
  const found = written.exec(text)?.groups
  if (found) return sha256Hex(found.lines ?? '').slice(0, 16) === found.digest ? 'unchanged' : 'changed'
  return text.includes(start) ? 'changed' : 'absent'
}

/** The text with the block at its end. Exactly one line break goes before it and one after, so that taking it out leaves every byte as it was. */
export function withBlock(text: string | undefined): string {
  return text === undefined ? `${block}\n` : `${text}\n${block}\n`
}

/** The text without its unchanged block; undefined where there was nothing before it, so that the file goes too. */
export function withoutBlock(text: string): string | undefined {
  const found = written.exec(text)
  if (!found) return text
  const before = text.slice(0, found.index)
  const after = text.slice(found.index + found[0].length)
  const rest = `${before.replace(/\n$/, '')}${after.replace(/^\n/, '')}`
  return before === '' && rest === '' ? undefined : rest
}
