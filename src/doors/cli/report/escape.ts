import { marked } from '../../../contract/source/shown.ts'

/** Longest text of one field in a format for people; what is left out is named. JSON carries all of it. */
export const longestText = 4000

/**
 * Lines stay; controls, invisible and bidirectional characters and what is no character at all are marked; a cut is named.
 * `##[`, which a CI log may obey anywhere in a line, is parted.
 */
export function block(text: string, longest = longestText): string {
  const { kept, left } = cutAt(text, longest)
  const shown = marked(kept)
    .replace(/\p{Noncharacter_Code_Point}/gu, (one) => `⟦U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟧`)
    .replace(/##(?=\[)/g, '## ')
  return left === 0 ? shown : `${shown} [… ${left} more characters]`
}

/** The end of a long output, where programs say what went wrong; what is left out before it is named. */
export function tail(text: string, longest = longestText): string {
  if (text.length <= longest) return text
  const kept = text.slice(text.length - longest + 40)
  return `[${text.length - kept.length} characters before this …]\n${kept}`
}

/** A block's text on one line. */
export function line(text: string, longest = longestText): string {
  return block(text, longest).replace(/\s+/g, ' ').trim()
}

function cutAt(text: string, longest: number): { kept: string; left: number } {
  if (text.length <= longest) return { kept: text, left: 0 }
  const splitsPair = /[\ud800-\udbff]/.test(text[longest - 1] ?? '') && /[\udc00-\udfff]/.test(text[longest] ?? '')
  const kept = text.slice(0, splitsPair ? longest - 1 : longest)
  return { kept, left: text.length - kept.length }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\t': '&#9;',
}

/** Content of an XML element. */
export function xmlText(text: string, longest = longestText): string {
  return block(text, longest).replace(/[&<>]/g, (character) => entities[character] ?? '')
}

/** Value of an XML attribute, between double quotes. */
export function xmlAttribute(text: string, longest = 1000): string {
  return block(text, longest).replace(/[&<>"'\n\t]/g, (character) => entities[character] ?? '')
}

/** Message of a workflow command. */
export function commandData(text: string, longest = longestText): string {
  return block(text, longest).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Property of a workflow command. */
export function commandProperty(text: string): string {
  return commandData(line(text, 500)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/**
 * Text inside a Markdown line or table cell. It cannot start a block (it is one line, `<br>` for its own breaks), close or open anything,
 * nor become a link, a mention or a reference: an empty comment stands where a forge would recognise one.
 */
export function markdownText(text: string, longest = longestText): string {
  return block(text, longest)
    .trim()
    .replace(/[&<>]/g, (character) => entities[character] ?? '')
    .replace(/[\\`*_{}[\]()#+!|~$^=-]/g, '\\$&')
    .replace(/@|\\#(?=\d)|:(?=\/\/)|www(?=\.)|GH(?=\\-\d)/gi, '$&<!-- -->')
    .replace(/\n/g, '<br>')
    .replace(/\s+/g, ' ')
}

/** A fenced block that nothing inside can close. */
export function markdownFence(text: string, longest = longestText): string {
  const shown = block(text, longest)
  const longestRun = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longestRun + 1)
  return `${fence}text\n${shown}\n${fence}`
}

/** JSON in which every character that a terminal would obey or hide is written as an escape. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? character : Array.from({ length: character.length }, (_, at) => unitEscape(character, at)).join(''),
  )
}

function unitEscape(character: string, at: number): string {
  return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
}
