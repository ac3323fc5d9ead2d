import type { Verdict } from '../../../contract/verdict.ts'
import type { JudgeQuestion } from '../../../ports/brain.ts'
import type { Grade } from './script.ts'

/** The whole verdict that a few words stand for; or the name in them that the question does not have. */
export function expandGrade(grade: Grade, question: JudgeQuestion): { verdict: Verdict } | { unknown: string } {
  const scores = typeof grade.scores === 'object' ? grade.scores : {}
  const criteria = grade.criteria ?? {}
  const prior = typeof grade.prior === 'object' ? grade.prior : {}
  const unknown =
    stranger(
      'dimension',
      scores,
      question.dimensions.map(({ name }) => name),
    ) ??
    stranger(
      'criterion',
      criteria,
      question.criteria.map(({ id }) => id),
    ) ??
    stranger(
      'point',
      prior,
      question.points.map(({ ref }) => ref),
    )
  if (unknown !== undefined) return { unknown }
  const level = typeof grade.scores === 'number' ? grade.scores : grade.accept ? 4 : 2
  const reasoning = grade.reasoning ?? 'As the script has it.'
  const evidence = [grade.evidence ?? []].flat()
  const concern = grade.concern ?? (grade.accept ? 'Nothing stands in the way.' : 'The work is not good enough.')
  return {
    verdict: {
      nonce: grade.nonce ?? question.nonce,
      prior: question.points.map(({ ref }) => ({
        ref,
        addressed: prior[ref] ?? (typeof grade.prior === 'string' ? grade.prior : grade.accept ? 'yes' : 'no'),
        evidence,
      })),
      criteria: question.criteria.map(({ id }) => criterionAnswer(id, criteria[id], evidence, reasoning)),
      dimensions: question.dimensions.map(({ name }) => ({ name, reasoning, score: scores[name] ?? level })),
      verdict: grade.accept ? 'accept' : 'reject',
      rejection_category: grade.category ?? (grade.accept ? null : 'acceptance_gap'),
      concern,
      evidence,
      next_step: grade.next_step ?? (grade.accept ? null : `Mend this: ${concern}`),
    },
  }
}

function criterionAnswer(
  id: string,
  given: NonNullable<Grade['criteria']>[string] | undefined,
  evidence: string[],
  reasoning: string,
): Verdict['criteria'][number] {
  if (typeof given !== 'object') return { id, evidence, reasoning, met: given ?? 'yes' }
  return {
    id,
    evidence: given.evidence === undefined ? evidence : [given.evidence].flat(),
    reasoning: given.reasoning ?? reasoning,
    met: given.met,
  }
}

/** A name that the script uses and the question does not know, said with those that it does. */
function stranger(what: string, given: object, known: string[]): string | undefined {
  const name = Object.keys(given).find((key) => !known.includes(key))
  return name === undefined
    ? undefined
    : `${what} ${JSON.stringify(name)} is not part of this review (${known.join(', ') || 'it has none'})`
}
