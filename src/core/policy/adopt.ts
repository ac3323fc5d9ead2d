import { canonicalJson } from '../../contract/canonical.ts'
import { type CheckEntry, expandChecks } from '../../contract/check.ts'
import type { Policy } from '../../contract/policy.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { gateCriteria, missingOfGate, withGateCriteria } from '../gate/criteria.ts'

/** Criteria only where they change: what the gate asks of a deliverable is added, and nothing that was asked goes. */
type AdoptedTerms = Pick<TaskSpec, 'bar' | 'dimensions' | 'checks'> & Partial<Pick<TaskSpec, 'criteria'>>

/** What of a task's terms comes from the policy changes with it; what the mission file said of the task itself stays. */
export function underPolicy(spec: TaskSpec, before: Policy, after: Policy): AdoptedTerms {
  const inherits = (what: 'bar' | 'dimensions', same: boolean) => same && !spec.own?.includes(what)
  const gate = spec.deliverable === undefined ? [] : gateCriteria(after)
  return {
    bar: inherits('bar', spec.bar === before.review.threshold) ? after.review.threshold : spec.bar,
    dimensions: inherits('dimensions', same(spec.dimensions, before.review.dimensions)) ? after.review.dimensions : spec.dimensions,
    checks: [...expandChecks(checksOf(after)), ...withoutFirst(spec.checks, expandChecks(checksOf(before)))],
    ...(missingOfGate(spec, gate).length > 0 && { criteria: withGateCriteria(spec.criteria, gate) }),
  }
}

const checksOf = ({ other }: Policy): CheckEntry[] => (other.checks ?? []) as CheckEntry[]
const same = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other)

/** The configuration's checks come first in every task; a task that has them otherwise keeps all of its own. */
function withoutFirst<T>(list: readonly T[], first: readonly T[]): readonly T[] {
  return same(list.slice(0, first.length), first) ? list.slice(first.length) : list
}
