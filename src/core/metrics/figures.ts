import type { Score } from '../../contract/score.ts'
import { CallTotal, type Spending } from './call-sum.ts'
import type { JudgeSums } from './judge-sums.ts'
import { RecentTotal } from './recent.ts'
import { define, type ScoreSums, ScoreTotal } from './score-sum.ts'
import type { MissionSums, TaskSums } from './task-sums.ts'

/** A share of a whole; `rate` is null where there is no whole. */
export interface Share {
  count: number
  of: number
  rate: number | null
}

/** Scores as they are told; null where nothing was scored. */
interface Scored {
  totalAssessments: number
  passedAssessments: number
  /** Assessments that have a score: the others are in no average. */
  scoredAssessments: number
  avgScore: Score | null
  minScore: Score | null
  maxScore: Score | null
  dimensionScores: Record<string, Score>
  totalRetries: number
  totalFixes: number
  unreadableVerdicts: number
  judgeAgreement: Share
  overruleRate: Share
  judging: Spending
  /** The latest scores on 1–5, oldest first. */
  lastScores: number[]
}

/** Of a task, of an agent's tasks, or of a mission's. */
export interface WorkFigures extends Scored {
  tasks: number
  deadlinesMet: number
  deadlinesMissed: number
  forceAccepts: number
  bypasses: number
  firstPassYield: Share
  timeInReviewMs: number
  avgTimeInReviewMs: number | null
}

/** Of an agent as judge. Assessments are its verdicts; retries are asks after it was not reached, fixes those after an unreadable reply. */
export interface JudgeFigures extends Scored {
  abstained: number
  unavailable: number
}

/** Scores, trend and judging of many rows. */
class Scores {
  readonly #scores = new ScoreTotal()
  readonly #dimensions = new Map<string, ScoreTotal>()
  readonly #recent = new RecentTotal()
  readonly #calls = new CallTotal()
  readonly #verdicts = { decided: 0, agreed: 0, overruled: 0, unreadable: 0 }

  add({ scores, dimensions, recent }: Pick<JudgeSums, 'scores' | 'recent'> & { dimensions: ScoreSums }): void {
    this.#scores.add(scores)
    for (const [name, sum] of Object.entries(dimensions)) {
      const total = this.#dimensions.get(name) ?? new ScoreTotal()
      total.add(sum)
      this.#dimensions.set(name, total)
    }
    this.#recent.add(recent)
  }

  addJudging({ decided, agreed, overruled, unreadable, calls }: JudgeSums): void {
    this.#verdicts.decided += decided
    this.#verdicts.agreed += agreed
    this.#verdicts.overruled += overruled
    this.#verdicts.unreadable += unreadable
    this.#calls.add(calls)
  }

  get figures() {
    const dimensionScores: Record<string, Score> = {}
    for (const [name, { average }] of this.#dimensions) if (average) define(dimensionScores, name, average)
    const { decided, agreed, overruled, unreadable } = this.#verdicts
    return {
      scoredAssessments: this.#scores.count,
      avgScore: this.#scores.average ?? null,
      minScore: this.#scores.min ?? null,
      maxScore: this.#scores.max ?? null,
      dimensionScores,
      unreadableVerdicts: unreadable,
      judgeAgreement: share(agreed, decided),
      overruleRate: share(overruled, decided),
      judging: this.#calls.spending,
      lastScores: this.#recent.latest,
    }
  }
}

/** Rows of tasks added up. Mutable: a mission may have very many. */
export class WorkTotals {
  readonly #scores = new Scores()
  readonly #counts = {
    tasks: 0,
    totalAssessments: 0,
    passedAssessments: 0,
    totalRetries: 0,
    totalFixes: 0,
    deadlinesMet: 0,
    deadlinesMissed: 0,
    forceAccepts: 0,
    bypasses: 0,
    timeInReviewMs: 0,
  }
  readonly #first = { count: 0, of: 0 }

  add(row: TaskSums): void {
    const counts = this.#counts
    counts.tasks += 1
    counts.totalAssessments += row.assessments
    counts.passedAssessments += row.passed
    counts.totalRetries += Math.max(0, row.executions - 1)
    counts.totalFixes += row.fixes
    counts.deadlinesMet += row.deadlinesMet
    counts.deadlinesMissed += row.deadlinesMissed
    counts.forceAccepts += row.forceAccepts
    counts.timeInReviewMs += row.reviewMs
    if (row.firstPass !== undefined) this.#first.of += 1
    if (row.firstPass) this.#first.count += 1
    this.#scores.add(row)
    for (const judge of Object.values(row.judges)) this.#scores.addJudging(judge)
  }

  /** What happened to the mission itself. */
  addMission({ bypasses, deadlinesMet, deadlinesMissed }: MissionSums): void {
    this.#counts.bypasses += bypasses
    this.#counts.deadlinesMet += deadlinesMet
    this.#counts.deadlinesMissed += deadlinesMissed
  }

  get figures(): WorkFigures {
    const { totalAssessments, timeInReviewMs } = this.#counts
    return {
      ...this.#counts,
      ...this.#scores.figures,
      firstPassYield: share(this.#first.count, this.#first.of),
      avgTimeInReviewMs: totalAssessments === 0 ? null : Math.round(timeInReviewMs / totalAssessments),
    }
  }
}

export class JudgeTotals {
  readonly #scores = new Scores()
  readonly #counts = { totalAssessments: 0, passedAssessments: 0, abstained: 0, unavailable: 0, totalRetries: 0, totalFixes: 0 }

  add(sums: JudgeSums): void {
    const counts = this.#counts
    counts.totalAssessments += sums.verdicts
    counts.passedAssessments += sums.accepts
    counts.abstained += sums.abstained
    counts.unavailable += sums.unavailable
    counts.totalRetries += sums.retries
    counts.totalFixes += sums.reprompts
    this.#scores.add(sums)
    this.#scores.addJudging(sums)
  }

  get figures(): JudgeFigures {
    return { ...this.#counts, ...this.#scores.figures }
  }
}

const share = (count: number, of: number): Share => ({ count, of, rate: of === 0 ? null : count / of })
