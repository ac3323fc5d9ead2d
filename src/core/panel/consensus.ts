import type { PanelSettings } from '../../contract/config/review.ts'
import type { Sitting } from '../../contract/review.ts'
import type { Dimension } from '../../contract/score.ts'
import { type ConsensusRule, consensusOf } from '../score/consensus.ts'
import { div, fromDecimal, type Rational, rational } from '../score/exact.ts'
import { globalScore, lowerMedian, reaches } from '../score/score.ts'
import { gradedSittings, type Panel, type PanelRules } from './state.ts'

/** What one principal said, however often it sat. */
export interface PrincipalVote {
  principal: string
  /** The first of its agents that graded. */
  judge: string
  accepts: boolean
  scores: ReadonlyMap<string, Rational>
}

/** Where the graded seats stand. */
export interface Tally {
  votes: PrincipalVote[]
  accepts: number
  rejects: number
  dimensions: { name: string; score: Rational; setAside: boolean[] }[]
  score: Rational
}

export function ruleOf(settings: PanelSettings): ConsensusRule {
  return { outlierDistance: fromDecimal(settings.outlierDistance), median: settings.median }
}

/** A judge's score per dimension. A text judge's one number counts for each. */
export function scoresOf({ judge, verdict, text }: Sitting, dimensions: readonly Dimension[]): ReadonlyMap<string, Rational> {
  return new Map(
    dimensions.map(({ name }) => {
      if (text) return [name, div(fromDecimal(text.score100), rational(20))]
      const answer = verdict?.dimensions.find((dimension) => dimension.name === name)
      if (!answer) throw new TypeError(`the graded verdict of ${judge} has no score for "${name}"`)
      return [name, rational(answer.score)]
    }),
  )
}

/** One vote per principal: the lower median of its sittings per dimension, and an accept only if all of them accept. */
export function mergePrincipals(sittings: readonly Sitting[], dimensions: readonly Dimension[]): PrincipalVote[] {
  return [...Map.groupBy(sittings, ({ principal }) => principal)].map(([principal, own]) => {
    const scores = own.map((sitting) => scoresOf(sitting, dimensions))
    return {
      principal,
      judge: own[0]?.judge ?? principal,
      accepts: own.every(({ accepts }) => accepts),
      scores: new Map(dimensions.map(({ name }) => [name, lowerMedian(scores.flatMap((score) => score.get(name) ?? []))])),
    }
  })
}

/** Consensus and votes of the seats graded so far, one at least. */
export function tally(panel: Panel, { settings, dimensions }: Pick<PanelRules, 'settings' | 'dimensions'>): Tally {
  const votes = mergePrincipals(gradedSittings(panel), dimensions)
  const agreed = dimensions.map(({ name }) => {
    const scores = votes.flatMap((vote) => vote.scores.get(name) ?? [])
    return { name, ...consensusOf(scores, ruleOf(settings)) }
  })
  const accepts = votes.filter((vote) => vote.accepts).length
  const score = globalScore(new Map(agreed.map((dimension) => [dimension.name, dimension.score])), dimensions)
  return { votes, accepts, rejects: votes.length - accepts, dimensions: agreed, score }
}

/** Whether score and votes carry the work. A tie does not. */
export function carries(
  { score, accepts, rejects }: Pick<Tally, 'score' | 'accepts' | 'rejects'>,
  { bar }: Pick<PanelRules, 'bar'>,
): boolean {
  return reaches(score, bar) && accepts > rejects
}
