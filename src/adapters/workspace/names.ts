import { sha256Hex } from '../../contract/canonical.ts'
import type { InputMaterial } from '../../ports/workspace.ts'

/** Names that Windows gives to devices. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/

/** One folder name for one task id: a simple id as it is, any other by its hash. The `~` keeps the two kinds apart, and no name has a dot. */
export function safeName(id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,99}$/.test(id) && !reserved.test(id)) return id
  return `${slug(id) || 'task'}~${sha256Hex(id)}`
}

/** Lower case, so that names stay apart on file systems that ignore case. */
function slug(text: string): string {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
  return [...words]
    .slice(0, 40)
    .join('')
    .replaceAll(/^-+|-+$/g, '')
}

/** A folder name for each input, from its title; inputs that would share one are told apart by their task. */
export function inputNames(inputs: readonly InputMaterial[]): Map<InputMaterial, string> {
  const uses = new Map<string, number>()
  for (const input of inputs) uses.set(slug(input.title), (uses.get(slug(input.title)) ?? 0) + 1)
  const names = new Map<InputMaterial, string>()
  for (const input of inputs) {
    const name = slug(input.title)
    const clear = name !== '' && uses.get(name) === 1 && !reserved.test(name)
    names.set(input, clear ? name : `${name || 'input'}~${sha256Hex(input.task).slice(0, 32)}`)
  }
  return names
}
