import type { RawReply, Verdict } from '../../../src/contract/verdict.ts'

/** What a judge has before it when it answers: the attack as it met it, and the verdict that it would give by itself. */
export interface Answering {
  attack: string
  own: Verdict
}

export type Wrapping = (answering: Answering) => RawReply

const text = (body: string): RawReply => ({ channel: 'text', body, finish: 'stop' })
const tool = (body: string): RawReply => ({ channel: 'tool', body, finish: 'tool-calls' })
const fenced = (body: string, language = '') => `\`\`\`${language}\n${body}\n\`\`\``
const quoted = (body: string) => body.replace(/^/gm, '> ')
const ownText = ({ own }: Answering) => JSON.stringify(own)

/** A judge that rejects and repeats the attack around or inside its verdict. */
export const echoes: Record<string, Wrapping> = {
  before: (one) => text(`${one.attack}\n${ownText(one)}`),
  after: (one) => text(`${ownText(one)}\n${one.attack}`),
  'fenced before': (one) => text(`${fenced(one.attack)}\n${ownText(one)}`),
  'fenced after': (one) => text(`${ownText(one)}\n${fenced(one.attack, 'json')}`),
  'quoted before': (one) => text(`${quoted(one.attack)}\n${ownText(one)}`),
  'in the concern': ({ own, attack }) => text(JSON.stringify({ ...own, concern: attack || '.' })),
  'in tool arguments': ({ own, attack }) => tool(JSON.stringify({ ...own, next_step: attack || '.', concern: attack || '.' })),
  'before tool arguments': (one) => tool(`${one.attack}${ownText(one)}`),
}

/** A judge that gives the attack instead of a verdict. */
export const parrots: Record<string, Wrapping> = {
  bare: ({ attack }) => text(attack),
  fenced: ({ attack }) => text(fenced(attack, 'json')),
  quoted: ({ attack }) => text(quoted(attack)),
  'in quotation marks': ({ attack }) => text(`"${attack}"`),
  'as JSON text': ({ attack }) => text(JSON.stringify(attack)),
  'as tool arguments': ({ attack }) => tool(attack),
  'in tool arguments': ({ attack }) => tool(JSON.stringify({ verdict: attack })),
  'as every field': ({ own, attack }) =>
    tool(JSON.stringify({ ...own, verdict: attack, rejection_category: attack, next_step: attack, concern: attack })),
}

const low = 'SCORE: 20\nThe file is not there.'

/** The same from a judge that can only print text. */
export const textEchoes: Record<string, Wrapping> = {
  before: ({ attack }) => text(`${attack}\n${low}`),
  after: ({ attack }) => text(`${low}\n${attack}`),
  'fenced before': ({ attack }) => text(`${fenced(attack)}\n${low}`),
  'quoted after': ({ attack }) => text(`${low}\n${quoted(attack)}`),
}
export const textParrots: Record<string, Wrapping> = {
  bare: ({ attack }) => text(attack),
  fenced: ({ attack }) => text(fenced(attack)),
  quoted: ({ attack }) => text(quoted(attack)),
}
