import { makeProject, type Project } from './project.ts'

export const pass = { accept: true, scores: 4 }
export const reject = { accept: false, scores: 2, category: 'half_finished', concern: 'It says hullo.', next_step: 'Make it say hello.' }

const plan = {
  name: 'Plan',
  tasks: [{ title: 'Greet', assignTo: 'dev', description: 'Write core.txt', acceptanceCriteria: ['it says hello'] }],
}

/** A worker outside, a scripted judge, and whatever else the test wants. */
export function project(
  answers: object,
  more: { agents?: object; brains?: object; limits?: object; workers?: object; delegate?: object } = {},
): Project {
  return makeProject({
    'assay.yaml': {
      brains: { away: { kind: 'outside' }, canned: { kind: 'scripted', file: 'brain.yaml' }, ...more.brains },
      agents: { dev: { role: 'engineer', brain: 'away' }, qa: { role: 'reviewer', brain: 'canned' }, ...more.agents },
      review: { panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0, ...more.limits },
      ...(more.delegate && { delegate: more.delegate }),
    },
    'brain.yaml': { judges: answers, ...(more.workers && { workers: more.workers }) },
    'plan.yaml': plan,
  })
}

export const caseFor = (pointer: string) => ({ summary: 'wrote core.txt', ac_coverage: [{ criterion: 'AC1', pointer }] })

/** A verdict in the form that the material asks for. */
export function verdictFor(
  schema: { properties: Record<string, { const?: string; items?: { properties: Record<string, { enum?: string[] }> } }> },
  accept = true,
) {
  const { nonce, criteria, dimensions } = schema.properties
  const listed = (list: typeof criteria, key: string) => list?.items?.properties[key]?.enum ?? []
  return {
    nonce: nonce?.const,
    prior: [],
    criteria: listed(criteria, 'id').map((id) => ({ id, evidence: ['core.txt:1'], reasoning: 'It is there.', met: accept ? 'yes' : 'no' })),
    dimensions: listed(dimensions, 'name').map((name) => ({ name, reasoning: 'Good.', score: accept ? 4 : 2 })),
    verdict: accept ? 'accept' : 'reject',
    rejection_category: accept ? null : 'acceptance_gap',
    concern: 'Seen.',
    evidence: [],
    next_step: accept ? null : 'Say hello louder.',
  }
}
