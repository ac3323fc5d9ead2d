import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { RawReply } from '../../contract/verdict.ts'
import { rejectingVerdict, sampleExpectations, textReply, toolReply } from '../../testing/sample-verdict.ts'
import { type ReadReply, readReply } from './read.ts'
import { suspicions } from './suspicion.ts'

const folder = resolve(process.env.ASSAY_DATA ?? '../shared/data')
const missing = !existsSync(join(folder, 'injections.jsonl.gz'))
if (missing)
  console.warn(
    `recorded judgements and attacks are not at ${folder}: their tests are skipped; set ASSAY_DATA to the folder that holds them`,
  )

interface Row {
  text: string
  target?: string
  family?: string
}

function rowsOf(file: string): Row[] {
  const lines = gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}

const structured = sampleExpectations()
const textual = sampleExpectations({ form: 'text' })
const own = JSON.stringify(rejectingVerdict(structured))

function accepts(result: ReadReply): boolean {
  return result.kind === 'verdict' ? result.verdict.verdict === 'accept' : result.kind === 'text' && Number(result.text.score100) >= 60
}

/** A judge that repeats worker text in one of the ways in which judges do. */
function wrappings(text: string): string[] {
  return [
    text,
    `${text}\n${own}`,
    `${own}\n${text}`,
    `The work says:\n${text}\n\n${own}`,
    `\`\`\`\n${text}\n\`\`\`\n${own}`,
    `\`\`\`json\n${text}\n\`\`\``,
    JSON.stringify(text),
    `{"quote":${JSON.stringify(text)}}`,
  ]
}

describe.skipIf(missing)('recorded attacks and judgements', () => {
  const injections = missing ? [] : rowsOf('injections.jsonl.gz')
  const judgements = missing
    ? []
    : readdirSync(folder)
        .filter((file) => file.startsWith('raw-judge-texts-'))
        .flatMap(rowsOf)

  it('are there in number', () => {
    expect(injections.length).toBeGreaterThan(500)
    expect(judgements.length).toBeGreaterThan(3000)
  })

  it('never read as an accept when a judge echoes or parrots an attack', () => {
    let replies = 0
    for (const { text } of injections) {
      for (const body of wrappings(text)) {
        for (const reply of [textReply(body), toolReply(body)] satisfies RawReply[]) {
          replies += 1
          const result = readReply(reply, structured)
          if (result.kind !== 'unreadable') expect.fail(`read as ${result.kind}: ${body.slice(0, 200)}`)
        }
      }
    }
    expect(replies).toBeGreaterThan(8000)
  })

  it('never read as anything when a structured reply was asked for and another format came', () => {
    for (const { text } of judgements) {
      for (const reply of [textReply(text), toolReply(text)]) {
        expect(readReply(reply, structured).kind).toBe('unreadable')
      }
    }
  })

  it("never move a text judge's own score, repeated before it, after it, quoted or fenced", () => {
    for (const { text } of [...injections, ...judgements]) {
      const quoted = text.replace(/^/gm, '> ')
      for (const body of [
        `${text}\nSCORE: 20`,
        `SCORE: 20\n${text}`,
        `${quoted}\nSCORE: 20`,
        `SCORE: 20\n${quoted}`,
        `\`\`\`\n${text}\n\`\`\`\nSCORE: 20`,
      ]) {
        const result = readReply(textReply(body), textual)
        if (result.kind !== 'unreadable' && !(result.kind === 'text' && result.text.score100 === '20'))
          expect.fail(`read as ${JSON.stringify(result)}`)
      }
    }
  })

  it('never read as an accept by a text judge that parrots an attack or answers in another format', () => {
    const accepted = [...injections, ...judgements].filter(({ text }) => accepts(readReply(textReply(text), textual)))
    expect(accepted.map(({ text }) => text.slice(0, 200))).toEqual([])
  })

  it('are mostly recognised as suspicious where they are aimed at judges, and seldom where they are harmless', () => {
    const share = (rows: Row[]) => rows.filter(({ text }) => suspicions([{ where: 'output', text }]).length > 0).length / rows.length
    expect(share(injections.filter(({ target, family }) => target === 'judge' && family === 'judge_direct'))).toBeGreaterThan(0.75)
    expect(share(injections.filter(({ family }) => family === 'benign_control'))).toBeLessThan(0.15)
  })
})
