import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { missionJsonSchema } from './json-schema.ts'
import { MissionFile } from '../../mission/mission.ts'
import { Config } from '../config.ts'
import { peek } from '../read/other-names.ts'
import { parseConfig } from '../read/parse.ts'
import { explainConfig, inline, otherNames } from './explain.ts'
import { configJsonSchema } from './json-schema.ts'
import { knobsOf, type SchemaNode } from './knobs.ts'
import { configKnobs } from './known.ts'
import { referenceMarkdown } from './reference.ts'

describe('knobs', () => {
  it.each([...configKnobs(), ...knobsOf(MissionFile)].map((knob) => [knob.path, knob]))('%s has a description and a type', (_, knob) => {
    expect(knob.description).toMatch(/\S.*\.$/)
    expect(knob.type).not.toBe('anything')
  })

  it('print the default that is used', () => {
    const used = Config.parse({})
    const fixed = configKnobs().filter((knob) => !knob.section && !/[[<]/.test(knob.path))
    expect(fixed.length).toBeGreaterThan(50)
    for (const knob of fixed) expect({ [knob.path]: knob.default }).toEqual({ [knob.path]: peek(used, knob.path.split('.'))?.value })
  })

  it('tell which kinds of thing a key belongs to', () => {
    const find = (path: string, when?: string) => configKnobs().find((knob) => knob.path === path && knob.when === when)
    expect(find('checks[].kind')?.choices).toEqual([
      'command',
      'file',
      'text',
      'placeholders',
      'http',
      'html',
      'browser',
      'diff',
      'landing-page',
    ])
    expect(find('notify.channels.<name>.kind')?.choices).toEqual(['slack', 'pagerduty', 'webhook', 'email', 'desktop', 'stderr'])
    expect(find('checks[].protect')).toMatchObject({ required: false })
    expect(find('checks[].maxBytes', 'kind: file')).toMatchObject({ type: 'whole number' })
    expect(find('brains.<name>.timeout', 'kind: command, agent')).toMatchObject({ type: 'duration' })
  })
})

describe('explainConfig', () => {
  it('tells value and origin of every knob where a configuration is given', () => {
    const loaded = parseConfig({ file: 'assay.yaml', text: 'review:\n  threshold: 80\n', env: { EVAL: 'off' } })
    if (!loaded.ok) throw new Error('the configuration should load')
    const rows = explainConfig(loaded.value.config, loaded.value.origins)
    const row = (path: string) => rows.find((candidate) => candidate.path === path)
    expect(row('review.threshold')).toMatchObject({
      default: 60,
      value: 80,
      origin: { source: 'file', name: 'assay.yaml:2:3' },
      env: 'EVAL_THRESHOLD',
      flag: '--eval-threshold',
    })
    expect(row('review.evaluate')).toMatchObject({ default: true, value: false, origin: { source: 'env', name: 'EVAL' } })
    expect(row('review.panel.mode')).toMatchObject({
      choices: ['escalate', 'full', 'curtail'],
      value: 'escalate',
      origin: { source: 'default' },
    })
    expect(row('review.panel')).not.toHaveProperty('value')
    expect(explainConfig().every((knob) => !('value' in knob) && !('origin' in knob))).toBe(true)
  })

  it('has words for names and values', () => {
    const [failOpen] = explainConfig().filter((knob) => knob.flag === '--fail-open')
    expect(failOpen && otherNames(failOpen)).toEqual(['--fail-open (= accept)', 'failOpenOnUnparsedEval: true (= accept)'])
    expect([inline(''), inline([]), inline(3), inline('x')]).toEqual(['""', '[]', '3', 'x'])
    expect(inline(Config.parse({}).review.dimensions)).toBe('4: correctness, completeness, code_quality, edge_cases')
  })
})

describe('JSON Schema for editors', () => {
  const schema = configJsonSchema()
  const at = (node: SchemaNode, path: string) =>
    path.split('.').reduce<SchemaNode | undefined>((inner, step) => inner?.properties?.[step], node)

  it('has titles, ids, and no keyword of our own', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:assay:config:1',
      title: 'assay.yaml',
      additionalProperties: false,
    })
    expect(missionJsonSchema()).toMatchObject({ $id: 'urn:assay:mission:1', required: ['name', 'tasks'] })
    expect(JSON.stringify([schema, missionJsonSchema()])).not.toMatch(/"(flag|flagSets|aliases|aliasSets|namesOn100|typeName)":/)
  })

  it('keeps keys that are called like a keyword of ours', () => {
    expect(at(schema, 'brains')?.additionalProperties).toMatchObject({
      oneOf: expect.arrayContaining([expect.objectContaining({ properties: expect.objectContaining({ env: expect.anything() }) })]),
    })
  })

  it('knows other names', () => {
    expect(at(schema, 'evaluate')).toMatchObject({ type: 'boolean' })
    expect(at(schema, 'failOpenOnUnparsedEval')).toMatchObject({ type: 'boolean' })
    expect(at(schema, 'evalThreshold')).toMatchObject({ type: 'number', maximum: 100 })
    expect(at(schema, 'settings.sla.violationAction')).toMatchObject({ enum: ['notify', 'fail'] })
    expect(at(schema, 'settings.sla.violationAction')).not.toHaveProperty('default')
  })
})

describe('docs/reference/configuration.md', () => {
  it('is what the schemas print (npx node scripts/print-reference.ts)', () => {
    const file = new URL('../../../../docs/reference/configuration.md', import.meta.url)
    expect(existsSync(file)).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(referenceMarkdown())
  })

  it('names every knob', () => {
    const text = referenceMarkdown()
    for (const knob of configKnobs()) expect(text).toContain(knob.path)
    expect(text).toContain('| `review.threshold` | number | `60` | `EVAL_THRESHOLD`, `--eval-threshold <value>`, `evalThreshold` |')
  })
})
