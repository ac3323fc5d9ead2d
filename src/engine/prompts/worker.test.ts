import { describe, expect, it } from 'vitest'
import { Case, Coverage, DelegationProposal } from '../../contract/case.ts'
import { created, start } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'
import { workerPrompt } from './worker.ts'

const terms = { ledgerLimit: 5, agents: ['dev', 'qa'], delegate: { maxDelegations: 3, maxDelegationDepth: 2 } }
const promptOf = (spec = {}, changes: Partial<typeof terms> = {}) =>
  workerPrompt(created(rulesWith({}), spec).when(start()).state, [], { ...terms, ...changes })

describe('what a worker is told of its case', () => {
  it('names every field that a case may have, and every field of those', () => {
    const prompt = promptOf()
    for (const field of [Case, Coverage, DelegationProposal].flatMap(({ shape }) => Object.keys(shape)))
      expect(prompt).toContain(`"${field}"`)
    const [shape = ''] = /^\{"summary".*\}$/m.exec(prompt) ?? []
    expect(Case.safeParse(JSON.parse(shape)).success, 'the shape that is shown is one of a case').toBe(true)
  })

  it('says what is required, and how much of each may be said', () => {
    const prompt = promptOf()
    expect(prompt).toMatch(/^- summary \(required, at most 4000 characters\): /m)
    expect(prompt).toMatch(/^- ac_coverage \(required, at most 500\): /m)
    expect(prompt).toMatch(/^- work_arounds \(at most 20\): /m)
    expect(prompt).toMatch(/^ {2}- evidence: /m)
  })

  it('says how many tasks may be proposed, and to whom', () => {
    expect(promptOf()).toMatch(/^- delegations \(at most 3\): .*\n {2}- to \(required, one of dev, qa\): /m)
    expect(promptOf({}, { delegate: { maxDelegations: 80, maxDelegationDepth: 2 } })).toContain('- delegations (at most 50)')
  })

  it.each([
    ['it is as deep as tasks may be', { depth: 2 }, {}],
    ['none may be proposed at all', {}, { delegate: { maxDelegations: 0, maxDelegationDepth: 2 } }],
  ])('says nothing of proposals where %s', (_, spec, changes) => {
    const prompt = promptOf(spec, changes)
    expect(prompt).not.toContain('delegations')
    expect(prompt).toContain('"uncertainties"')
  })
})
