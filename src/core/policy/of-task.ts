import { canonicalJson } from '../../contract/canonical.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Subject } from '../../contract/review.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { gateCriteria, missingOfGate } from '../gate/criteria.ts'
import { compare } from '../score/exact.ts'
import { barOf } from '../score/score.ts'
import type { Rules } from '../task/draft.ts'
import { isAccepted, type OwnerState, unacceptedDifferences } from './accepted.ts'
import { policyDifferences, policyDigest, rubricDigest } from './policy.ts'

/** What of a task is compared with the policy that it was judged under. */
export type TaskTerms = Pick<TaskSpec, 'bar' | 'dimensions' | 'criteria' | 'deliverable'>

/**
 * What a task says for itself and the owner does not stand behind: a lower bar, other dimensions, a deliverable without the gate's criteria.
 * Undefined where it asks as much as the policy, or where the owner accepted a policy that asks as little of everything. More is always fine.
 */
export function loosenedTerms(owner: OwnerState, { policy }: Rules, task: TaskTerms): string[] | undefined {
  const asked = askedOf(policy, task)
  const missing = task.deliverable === undefined ? [] : missingOfGate(task, gateCriteria(policy))
  const differences = [
    ...policyDifferences(policy, asked).map((line) => line.replace(/^review\.([^:]+):/, '$1 of the task:')),
    ...missing.map((text) => `criteria of the task: without ${JSON.stringify(text)} of gate.criteria`),
  ]
  if (differences.length === 0) return undefined
  const gate = { ...(policy.other.gate as object | undefined), criteria: gateCriteria(policy).filter((text) => !missing.includes(text)) }
  const whole = missing.length === 0 ? asked : { ...asked, other: { ...asked.other, gate } }
  return isAccepted(owner, policyDigest(whole)) ? undefined : differences
}

/** The policy as if it said of everything what the task says of itself. Nobody can tell which of two rubrics is stricter: another one is another. */
function askedOf(policy: Policy, { bar, dimensions }: TaskTerms): Policy {
  const { review } = policy
  const lower = compare(barOf(bar), barOf(review.threshold)) < 0
  const other = rubricText(dimensions) !== rubricText(review.dimensions)
  return { ...policy, review: { ...review, ...(lower && { threshold: bar }), ...(other && { dimensions }) } }
}

/** Rubrics are compared at every look of the gate: each is written out once. */
const rubricTexts = new WeakMap<TaskTerms['dimensions'], string>()

function rubricText(dimensions: TaskTerms['dimensions']): string {
  const text = rubricTexts.get(dimensions) ?? canonicalJson(dimensions)
  rubricTexts.set(dimensions, text)
  return text
}

/**
 * What the owner does not stand behind of a decision, each with its name: of the policy that it was made under (`recorded`, where it is known), or of what
 * the task says otherwise. Empty where the owner stands behind all of it. A policy that took over later has changed the task's terms, not what its
 * judges were asked.
 */
export function unbackedTerms(
  owner: OwnerState,
  { policy: digest, bound }: { policy: string; bound?: Subject | undefined },
  task: TaskTerms,
  recorded?: Policy,
): string[] {
  const policy = owner.accepted.find((one) => one.digest === digest)?.policy as Policy | undefined
  if (!policy) {
    const differences = recorded && unacceptedDifferences(owner, { policy: recorded, digest: digest as Rules['digest'] })
    return differences?.length ? differences.map((line) => `policy, ${line}`) : ['policy: the owner has accepted none like it']
  }
  const { dimensions, threshold } = policy.review
  const asPolicy = bound?.rubric === rubricDigest(dimensions, threshold)
  return loosenedTerms(owner, { policy, digest }, asPolicy ? { ...task, dimensions, bar: threshold } : task) ?? []
}
