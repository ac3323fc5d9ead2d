import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Config } from '../../contract/config/config.ts'
import type { Problem } from '../../contract/source/problem.ts'
import { loadConfig } from './load.ts'

/** A gate stricter than the defaults in every way, so that anything lost would show. */
const strict = `version: 1
brains:
  shell: { kind: command, argv: [./worker.sh] }
  judge: { kind: scripted, file: brain.yaml }
agents:
  dev: { role: engineer, brain: shell }
  qa: { role: reviewer, brain: judge }
review:
  evaluate: true
  threshold: 85
  maxAttempts: 5
  onUnreadable: hold
  onExhausted: fail
  forceAccept: best
  whenNoReviewer: hold
  independence: provider
  weightSum: strict
  maxCaseErrors: 1
  maxCheckRetries: 0
  maxCost: 12.5
  canaries: 0.25
  panel:
    size: 7
    quorum: 5
    mode: full
    outlierDistance: 3
    median: lower
    veto: evidence
gate:
  maxRetries: 1
  agentBypass: false
  bypassTtl: 1h
checks:
  - { kind: command, argv: [npm, test], timeout: 90s, protect: [test/**] }
`
const lines = strict.trimEnd().split('\n')
const gateKnobs = [
  'evaluate',
  'threshold',
  'maxAttempts',
  'onUnreadable',
  'onExhausted',
  'forceAccept',
  'whenNoReviewer',
  'independence',
  'weightSum',
  'maxCaseErrors',
  'maxCheckRetries',
  'maxCost',
  'canaries',
] as const
const panelKnobs = ['size', 'quorum', 'mode', 'outlierDistance', 'median', 'veto', 'weights'] as const
const defaults = Config.parse({})

function load(text: string) {
  return loadConfig({ text, file: 'assay.yaml', env: {} })
}

function placed(problem: Problem): boolean {
  return problem.file === 'assay.yaml' && (problem.line ?? 0) >= 1 && (problem.column ?? 0) >= 1
}

/** Lines of the form `key: value`, with the parts. */
const settings = lines.flatMap((line, index) => {
  const match = /^(\s*)([a-zA-Z]+): (\S.*)$/.exec(line)
  return match ? [{ index, indent: match[1] ?? '', key: match[2] ?? '', value: match[3] ?? '' }] : []
})

function replaceLine(index: number, line: string): string {
  return lines.map((old, place) => (place === index ? line : old)).join('\n')
}

describe('a configuration with one mistake in it (F11)', () => {
  it('loads as it stands', () => {
    expect(load(strict)).toMatchObject({ ok: true, value: { config: { review: { threshold: 85, panel: { quorum: 5 } } } } })
    expect(settings.length).toBeGreaterThan(25)
  })

  it('is refused at its line when a key is misspelt', () => {
    const known = new Set(settings.map(({ key }) => key))
    const slip = fc.record({ at: fc.noBias(fc.nat()), how: fc.constantFrom('drop', 'double', 'swap', 'upper', 'add') })
    fc.assert(
      fc.property(fc.constantFrom(...settings), slip, ({ index, indent, key, value }, { at, how }) => {
        const place = at % key.length
        const letter = key[place] ?? ''
        const next = key[place + 1] ?? ''
        const middle = { drop: '', double: letter + letter, swap: next + letter, upper: `${letter}X`, add: `${letter}q` }[how]
        const wrong = key.slice(0, place) + middle + key.slice(place + (how === 'swap' ? 2 : 1))
        fc.pre(wrong !== '' && !known.has(wrong) && indent + wrong !== key)
        const result = load(replaceLine(index, `${indent}${wrong}: ${value}`))
        if (result.ok) {
          // Agents and brains may be called anything; everything else has fixed keys.
          expect(['brains', 'agents', 'shell', 'judge', 'dev', 'qa']).toContain(key)
        } else {
          expect(result.error.every(placed)).toBe(true)
          // Names are missed where they are used; other keys where they stand.
          if (!['shell', 'judge'].includes(key)) expect(result.error.map(({ line }) => line)).toContain(index + 1)
        }
      }),
      { numRuns: 350 },
    )
  })

  it('is refused at its line when a value is of the wrong kind, empty or out of range', () => {
    const wrong = fc.constantFrom(
      '',
      'null',
      '~',
      '[]',
      '[[x]]',
      '{ x: 1 }',
      '""',
      '.nan',
      '-.inf',
      '-1',
      '0.5',
      '1e99',
      'nonsense',
      '"85"',
      'on',
      '!!binary eA==',
      '*nothing',
      '&a',
      '|',
    )
    fc.assert(
      fc.property(fc.constantFrom(...settings.filter(({ index }) => index >= 8)), wrong, ({ index, indent, key }, value) => {
        const text = replaceLine(index, `${indent}${key}: ${value}`)
        const result = load(text)
        if (!result.ok) {
          expect(result.error.length).toBeGreaterThan(0)
          expect(result.error.every(placed)).toBe(true)
          expect(Math.abs((result.error[0]?.line ?? 0) - (index + 1))).toBeLessThanOrEqual(1)
        } else expectAsWritten(text, result.value.config)
      }),
      { numRuns: 350 },
    )
  })

  it('is refused when a key is there twice', () => {
    for (const { index } of settings) {
      const doubled = [...lines.slice(0, index + 1), ...lines.slice(index)].join('\n')
      const result = load(doubled)
      expect(result.ok ? [] : result.error.map(({ line, message }) => [line, message.includes('there twice')])).toEqual([[index + 2, true]])
    }
  })

  it('loads, after any edit of its text, only what that text then says', () => {
    const edit = fc.oneof(
      fc.record({ kind: fc.constant('delete' as const), at: fc.noBias(fc.nat()), length: fc.integer({ min: 1, max: 12 }) }),
      fc.record({
        kind: fc.constant('insert' as const),
        at: fc.noBias(fc.nat()),
        text: fc.string({ unit: fc.constantFrom(...': -#[]{}&*!|>\'"%@`,\n\t0159abtruefalse~.\u0000\u2028'), minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        kind: fc.constant('copy' as const),
        at: fc.noBias(fc.nat()),
        length: fc.integer({ min: 1, max: 60 }),
        to: fc.noBias(fc.nat()),
      }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.noBias(fc.nat()) }),
    )
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const text = edits.reduce((current, change) => {
          const at = change.at % (current.length + 1)
          if (change.kind === 'delete') return current.slice(0, at) + current.slice(at + change.length)
          if (change.kind === 'insert') return current.slice(0, at) + change.text + current.slice(at)
          if (change.kind === 'cut') return current.slice(0, at)
          const to = change.to % (current.length + 1)
          return current.slice(0, to) + current.slice(at, at + change.length) + current.slice(to)
        }, strict)
        const result = load(text)
        if (result.ok) {
          accepted++
          expectAsWritten(text, result.value.config)
        } else {
          refused++
          expect(result.error.length).toBeGreaterThan(0)
          expect(result.error.every(placed)).toBe(true)
        }
      }),
      { numRuns: 800 },
    )
    expect(accepted).toBeGreaterThan(10)
    expect(refused).toBeGreaterThan(500)
  })
})

/** The independent reading: what a plain YAML parser finds at the knob's own name or its other name, else the default. */
function expectAsWritten(text: string, config: Config): void {
  const document = parse(text, { logLevel: 'error' }) as Record<string, unknown> & {
    review?: Record<string, unknown>
    gate?: Record<string, unknown>
  }
  const panel = document.review?.panel as Record<string, unknown> | undefined
  const otherNames: Record<string, unknown> = {
    evaluate: document.evaluate,
    threshold: document.evalThreshold,
    maxAttempts: document.maxAttempts,
  }
  for (const knob of gateKnobs)
    expect({ [knob]: config.review[knob] }).toEqual({ [knob]: document.review?.[knob] ?? otherNames[knob] ?? defaults.review[knob] })
  for (const knob of panelKnobs)
    expect({ [knob]: config.review.panel[knob] }).toEqual({ [knob]: panel?.[knob] ?? defaults.review.panel[knob] })
  for (const knob of ['maxRetries', 'agentBypass', 'bypassTtl'] as const)
    expect({ [knob]: config.gate[knob] }).toEqual({ [knob]: document.gate?.[knob] ?? defaults.gate[knob] })
  expect(config.checks).toEqual(document.checks ?? [])
}
