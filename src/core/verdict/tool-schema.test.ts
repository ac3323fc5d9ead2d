import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { acceptingVerdict, rejectingVerdict, sampleExpectations, toolReply } from '../../testing/sample-verdict.ts'
import { readReply } from './read.ts'
import { verdictToolSchema } from './tool-schema.ts'

interface ObjectSchema {
  type: string
  properties: Record<string, ObjectSchema & Record<string, unknown>>
  required: string[]
  additionalProperties: boolean
  items: ObjectSchema
}

const expected = sampleExpectations()
const schema = verdictToolSchema(expected) as unknown as ObjectSchema

describe('the schema of submit_verdict', () => {
  it('has the fields in the order in which a judge should think', () => {
    expect(Object.keys(schema.properties)).toEqual([
      'nonce',
      'prior',
      'criteria',
      'dimensions',
      'verdict',
      'rejection_category',
      'concern',
      'evidence',
      'next_step',
    ])
    expect(Object.keys(schema.properties.prior!.items.properties)).toEqual(['ref', 'addressed', 'evidence'])
    expect(Object.keys(schema.properties.criteria!.items.properties)).toEqual(['id', 'evidence', 'reasoning', 'met'])
    expect(Object.keys(schema.properties.dimensions!.items.properties)).toEqual(['name', 'reasoning', 'score'])
  })

  it('closes every object and requires every field', () => {
    for (const object of [schema, schema.properties.prior!.items, schema.properties.criteria!.items, schema.properties.dimensions!.items]) {
      expect(object.type).toBe('object')
      expect(object.additionalProperties).toBe(false)
      expect(object.required).toEqual(Object.keys(object.properties))
    }
  })

  it('fixes nonce, ids, names, values and counts', () => {
    const { nonce, prior, criteria, dimensions, verdict, rejection_category, evidence, next_step } = schema.properties
    expect(nonce).toMatchObject({ type: 'string', const: expected.nonce })
    expect(prior).toMatchObject({ type: 'array', minItems: 1, maxItems: 1 })
    expect(prior!.items.properties.ref).toEqual({ type: 'string', enum: ['P1'] })
    expect(prior!.items.properties.addressed).toEqual({ type: 'string', enum: ['yes', 'no', 'partly'] })
    expect(criteria).toMatchObject({ type: 'array', minItems: 3, maxItems: 3 })
    expect(criteria!.items.properties.id).toEqual({ type: 'string', enum: ['AC1', 'AC2', 'AC3'] })
    expect(criteria!.items.properties.met).toEqual({ type: 'string', enum: ['yes', 'no', 'cannot_tell'] })
    expect(dimensions).toMatchObject({ type: 'array', minItems: 2, maxItems: 2 })
    expect(dimensions!.items.properties.name).toEqual({ type: 'string', enum: ['correctness', 'completeness'] })
    expect(dimensions!.items.properties.score).toMatchObject({ type: 'integer', minimum: 1, maximum: 5 })
    expect(verdict).toEqual({ type: 'string', enum: ['accept', 'reject'] })
    expect(rejection_category).toMatchObject({
      anyOf: [
        { type: 'string', enum: ['scope_creep', 'acceptance_gap', 'weak_test', 'tests_pass_but_wrong', 'half_finished', 'spec_violation'] },
        { type: 'null' },
      ],
    })
    expect(evidence).toMatchObject({ type: 'array', maxItems: 100, items: { type: 'string' } })
    expect(next_step).toMatchObject({ anyOf: [{ type: 'string' }, { type: 'null' }] })
  })

  it('offers no empty choice where nothing is asked', () => {
    const bare = verdictToolSchema(sampleExpectations({ criteria: [], points: [] })) as unknown as ObjectSchema
    expect(bare.properties.criteria).toMatchObject({ minItems: 0, maxItems: 0, items: { properties: { id: { type: 'string' } } } })
    expect(JSON.stringify(bare)).not.toContain('"enum":[]')
  })

  it('is plain JSON and describes what judges write freely', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
    const { prior, criteria, dimensions, verdict, ...described } = schema.properties
    const items = [prior!, criteria!, dimensions!].flatMap(({ items: { properties } }) => [
      properties.evidence,
      properties.reasoning,
      properties.score,
    ])
    for (const field of [prior, criteria, dimensions, ...Object.values(described), ...items.filter((item) => item !== undefined)]) {
      expect(field?.description).toMatch(/^[\w']+ .*\w\.$/)
    }
    expect(criteria!.items.properties.reasoning?.type).toBe('string')
    expect(dimensions!.items.properties.reasoning?.type).toBe('string')
  })

  it('admits every verdict that can be read', () => {
    const check = z.fromJSONSchema(verdictToolSchema(expected))
    for (const verdict of [acceptingVerdict(expected), rejectingVerdict(expected)]) expect(check.safeParse(verdict).success).toBe(true)
    const flawed = fc.constantFrom<[string, unknown][]>(
      ['nonce', 'x'],
      ['criteria', []],
      ['dimensions', []],
      ['prior', []],
      ['verdict', 'pass'],
      ['rejection_category', 'other'],
      ['evidence', [1]],
      ['next_step', 1],
      ['extra', 1],
    )
    fc.assert(
      fc.property(flawed, ([field, value]) => {
        const document = { ...rejectingVerdict(expected), [field]: value }
        expect(check.safeParse(document).success).toBe(false)
        expect(readReply(toolReply(JSON.stringify(document)), expected).kind).toBe('unreadable')
      }),
    )
  })
})
