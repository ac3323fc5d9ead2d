import { canonicalJson, type Digest, digestOf } from '../../contract/canonical.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Bar, Dimension } from '../../contract/score.ts'
import type { Criterion } from '../../contract/task.ts'

/** Longest rendering of one value in a difference; a person needs to see what changed, not all of it. */
const shownLength = 80

/** Identity of everything that decides. Key order does not count: rewriting a file in another order is not a change of policy. */
export function policyDigest(policy: Policy): Digest {
  return digestOf(policy)
}

/** Identity of what judges score and of the bar that the score must reach. */
export function rubricDigest(dimensions: readonly Dimension[], bar: Bar): Digest {
  return digestOf({ dimensions, bar })
}

/** Identity of the acceptance criteria: ids, texts, hardness and order. */
export function criteriaDigest(criteria: readonly Criterion[]): Digest {
  return digestOf(criteria)
}

/**
 * What differs between two policies, for people: `review.threshold: 60 → 20`, sorted by path.
 * Empty exactly when the digests are equal, so that a refusal to resume can always name a cause.
 */
export function policyDifferences(before: Policy, after: Policy): string[] {
  return differences(before, after, '')
}

function differences(before: unknown, after: unknown, path: string): string[] {
  // What two policies share needs no looking into.
  if (before === after) return []
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    if (!Array.isArray(before)) keys.sort()
    return keys.flatMap((key) => differences(member(before, key), member(after, key), path === '' ? step(key) : `${path}.${step(key)}`))
  }
  const [was, is] = [textOf(before), textOf(after)]
  return was === is ? [] : [`${path}: ${shown(was)} → ${shown(is)}`]
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function member(container: object, key: string): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined
}

/** A key that would make the path ambiguous is quoted. */
function step(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
}

/** `undefined` has no JSON form: the member is not there. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value)
}

function shown(text: string | undefined): string {
  if (text === undefined) return '(not set)'
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}… (${text.length} characters)`
}
