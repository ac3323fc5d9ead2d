import {
  type AttestedDecision,
  outputSubject,
  type Resource,
  type Statement,
  statementType,
  type TestResult,
  testResultType,
} from '../../contract/attest/statement.ts'
import { sha256Hex } from '../../contract/canonical.ts'
import type { DecisionFacts } from './decision.ts'

const hexOf = (digest: string): string => digest.replace(/^sha256:/, '')
const resource = (name: string, digest: string): Resource => ({ name, digest: { sha256: hexOf(digest) } })

/** Only a clean accept under a policy that the owner stands behind passes; whatever else was accepted is a warning, for ever. */
export function resultOf({ flag, policyAccepted }: Pick<AttestedDecision, 'flag' | 'policyAccepted'>): TestResult {
  if (flag === 'failed') return 'FAILED'
  return flag === 'clean' && policyAccepted === true ? 'PASSED' : 'WARNED'
}

/** The statement that is signed: every file of the reviewed snapshot by its digest, and what was decided about them. */
export function statementOf(
  { decision, content, answers }: Omit<DecisionFacts, 'terms'>,
  snapshot: { files: readonly { path: string; digest: string }[]; refused: AttestedDecision['refused'] },
  head: AttestedDecision['head'],
): Statement {
  const subject = snapshot.files.map(({ path, digest }) => resource(path, digest))
  if (decision.kind === 'task' && (content.output ?? '').trim() !== '')
    subject.push(resource(outputSubject, sha256Hex(content.output ?? '')))
  const { bound } = decision
  return {
    _type: statementType,
    subject,
    predicateType: testResultType,
    predicate: {
      result: resultOf(decision),
      configuration: [
        resource('policy', decision.policy),
        ...(bound ? [resource('criteria', bound.criteria), resource('rubric', bound.rubric)] : []),
      ],
      ...testsOf(decision, answers),
      assay: { ...decision, refused: snapshot.refused, head },
    },
  }
}

/** Criteria by what judges answered, checks by what they found. A criterion that judges disagree on is a warning. */
function testsOf(decision: Omit<DecisionFacts, 'terms'>['decision'], answers: Omit<DecisionFacts, 'terms'>['answers']) {
  const tests = { passedTests: [] as string[], warnedTests: [] as string[], failedTests: [] as string[] }
  for (const { id, text } of decision.criteria) {
    const met = answers.filter(({ criterion }) => criterion === id).map((answer) => answer.met)
    const name = `${id}: ${text}`
    if (met.length > 0 && met.every((one) => one === 'yes')) tests.passedTests.push(name)
    else if (met.length > 0 && met.every((one) => one === 'no')) tests.failedTests.push(name)
    else tests.warnedTests.push(name)
  }
  for (const { id, outcome } of decision.checks) (outcome === 'pass' ? tests.passedTests : tests.failedTests).push(`check:${id}`)
  return tests
}
