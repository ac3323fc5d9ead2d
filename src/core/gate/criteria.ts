import type { Policy } from '../../contract/policy.ts'
import type { Criterion, TaskSpec } from '../../contract/task.ts'

/** What the policy asks of every deliverable (`gate.criteria`). A policy of an old journal may say nothing of it. */
export function gateCriteria({ other }: Pick<Policy, 'other'>): string[] {
  const { criteria = [] } = (other.gate ?? {}) as { criteria?: string[] }
  return criteria
}

/**
 * Criteria of a task whose work reaches a person: its own, with their ids, then those of the gate that are not among them. What the gate asks is
 * hard, though the task may have it as soft.
 */
export function withGateCriteria(own: readonly Criterion[], gate: readonly string[]): Criterion[] {
  const criteria = [...own]
  for (const text of gate) {
    const place = criteria.findIndex((one) => isSame(one.text, text))
    const known = criteria[place]
    if (known) criteria[place] = { ...known, hard: true }
    else criteria.push({ id: freeId(criteria), text, hard: true })
  }
  return criteria
}

/** What the gate asks and a task does not: it has no such criterion, or only a soft one. */
export function missingOfGate({ criteria }: Pick<TaskSpec, 'criteria'>, gate: readonly string[]): string[] {
  return gate.filter((text) => !criteria.some((one) => one.hard && isSame(one.text, text)))
}

const isSame = (one: string, other: string): boolean => one.trim() === other.trim()

/** `AC` and its place, or the next number that no criterion has. */
function freeId(criteria: readonly Criterion[]): string {
  const taken = new Set(criteria.map(({ id }) => id))
  let number = criteria.length + 1
  while (taken.has(`AC${number}`)) number += 1
  return `AC${number}`
}
