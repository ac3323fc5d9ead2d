import type { RawReply, Verdict } from '../contract/verdict.ts'
import type { Expectations } from '../core/verdict/read.ts'

/** A review that asks for something of everything: two hard criteria, a soft one, two dimensions, one prior point. */
export function sampleExpectations(changes: Partial<Expectations> = {}): Expectations {
  return {
    nonce: 'n0nce-7f3a91c2',
    criteria: [
      { id: 'AC1', text: 'core.txt exists', hard: true },
      { id: 'AC2', text: 'it says hello', hard: true },
      { id: 'AC3', text: 'it is short', hard: false },
    ],
    dimensions: [
      { name: 'correctness', weight: 0.6, description: 'Does it do what was asked?' },
      { name: 'completeness', weight: 0.4, description: 'Is all of it there?' },
    ],
    points: [{ ref: 'P1', source: 'judge', from: 'qa', text: 'Say hello, not goodbye.' }],
    form: 'structured',
    ...changes,
  }
}

/** A well-formed accept of everything that was asked. */
export function acceptingVerdict(expected: Expectations, changes: Partial<Verdict> = {}): Verdict {
  return {
    nonce: expected.nonce,
    prior: expected.points.map(({ ref }) => ({ ref, addressed: 'yes', evidence: ['core.txt:1'] })),
    criteria: expected.criteria.map(({ id }) => ({ id, evidence: [`core.txt:${id}`], reasoning: 'It is there.', met: 'yes' })),
    dimensions: expected.dimensions.map(({ name }) => ({ name, reasoning: 'Fine.', score: 4 })),
    verdict: 'accept',
    rejection_category: null,
    concern: 'None worth naming.',
    evidence: ['check:tests'],
    next_step: null,
    ...changes,
  }
}

/** A well-formed reject: the first criterion is not met. */
export function rejectingVerdict(expected: Expectations, changes: Partial<Verdict> = {}): Verdict {
  const accepting = acceptingVerdict(expected)
  return {
    ...accepting,
    criteria: accepting.criteria.map((answer, index) => (index === 0 ? { ...answer, met: 'no' } : answer)),
    dimensions: accepting.dimensions.map((answer) => ({ ...answer, score: 2 })),
    verdict: 'reject',
    rejection_category: 'acceptance_gap',
    concern: 'The file is not there.',
    evidence: ['absent:core.txt'],
    next_step: 'Write core.txt.',
    ...changes,
  }
}

export function textReply(body: string, finish?: string): RawReply {
  return finish === undefined ? { channel: 'text', body } : { channel: 'text', body, finish }
}

export function toolReply(body: string, finish?: string): RawReply {
  return finish === undefined ? { channel: 'tool', body } : { channel: 'tool', body, finish }
}
