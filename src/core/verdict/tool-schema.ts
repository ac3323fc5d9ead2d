import { Category } from '../../contract/verdict.ts'
import { type Expectations, maxEvidence } from './well-formed.ts'

type Schema = Record<string, unknown>

/**
 * JSON Schema of the arguments of `submit_verdict` for one review. Nonce, ids, names and counts are fixed in it, so that a model with structured
 * output cannot miss them; fields are in the order in which a judge should think: evidence, then reasoning, then the answer.
 */
export function verdictToolSchema(expected: Expectations): Record<string, unknown> {
  return object({
    nonce: { type: 'string', const: expected.nonce, description: "The review's nonce, copied exactly." },
    prior: listOf(
      expected.points.map(({ ref }) => ref),
      'One entry per point of prior feedback.',
      (ref) => ({ ref, addressed: { type: 'string', enum: ['yes', 'no', 'partly'] }, evidence: evidence('Where that can be seen.') }),
    ),
    criteria: listOf(
      expected.criteria.map(({ id }) => id),
      'One entry per acceptance criterion.',
      (id) => ({
        id,
        evidence: evidence('Where it can be seen that the criterion is met or not.'),
        reasoning: { type: 'string', description: 'What the evidence shows.' },
        met: { type: 'string', enum: ['yes', 'no', 'cannot_tell'] },
      }),
    ),
    dimensions: listOf(
      expected.dimensions.map(({ name }) => name),
      'One entry per dimension.',
      (name) => ({
        name,
        reasoning: { type: 'string', description: 'Why this score.' },
        score: {
          type: 'integer',
          minimum: 1,
          maximum: 5,
          description:
            '1 completely wrong or missing, 2 major issues, 3 acceptable with notable gaps, 4 good with minor issues, 5 excellent.',
        },
      }),
    ),
    verdict: { type: 'string', enum: ['accept', 'reject'] },
    rejection_category: {
      anyOf: [{ type: 'string', enum: [...Category.options] }, { type: 'null' }],
      description: 'null on accept; on reject the category that fits best.',
    },
    concern: { type: 'string', description: 'One to three sentences; never blank.' },
    evidence: evidence('Evidence for the verdict as a whole; may be empty on accept.'),
    next_step: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'null on accept; on reject the concrete remediation.' },
  })
}

function object(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A list that answers each key once; with nothing to answer it is empty, and the key has no values to choose from. */
function listOf(keys: readonly string[], description: string, fields: (key: Schema) => Record<string, Schema>): Schema {
  const key: Schema = keys.length === 0 ? { type: 'string' } : { type: 'string', enum: [...keys] }
  return { type: 'array', description, minItems: keys.length, maxItems: keys.length, items: object(fields(key)) }
}

function evidence(description: string): Schema {
  return {
    type: 'array',
    description: `${description} Pointers path:line or path:symbol, quotes, absent:path, absent:"text", check:id.`,
    maxItems: maxEvidence,
    items: { type: 'string' },
  }
}
