import type { RecentScore } from './recent.ts'
import type { JudgeSums } from './judge-sums.ts'
import { noScores, type ScoreSum, type ScoreSums } from './score-sum.ts'

/** A graded verdict of a review, for comparing it with the decision and with the owner's word. */
export interface Vote {
  judge: string
  accepts: boolean
  overruled?: true
}

/**
 * Everything that is counted of one task, folded event by event. Agents and missions are sums over their tasks' rows: events of a
 * review name neither the assignee nor, for an overrule, the judges, so that the task's row is the only place where all of it meets.
 */
export interface TaskSums {
  task: string
  mission: string
  assignee: string
  /** Names of the dimensions in force. */
  rubric: string[]

  /** Reviews that came to a decision. */
  assessments: number
  passed: number
  scores: ScoreSum
  dimensions: ScoreSums
  /** Milliseconds from a review's opening to its decision, added up. */
  reviewMs: number
  recent: RecentScore[]

  executions: number
  fixes: number
  deadlinesMet: number
  deadlinesMissed: number
  forceAccepts: number
  /** Whether the first attempt was accepted clean; absent while it is open, and where nobody reviewed it. */
  firstPass?: boolean
  judges: Record<string, JudgeSums>

  /** Cases handed in during the current attempt, readable or not. */
  handedIn: number
  /** The review that is open. */
  open?: { review: number; since: string; content: string; votes: Vote[] }
  /** Votes of the latest graded decision on each content, the latest last. */
  decided: { content: string; votes: Vote[] }[]
  /** Content of the current attempt's latest submission, and of the accepted work while the task is done. */
  submitted?: string
  accepted?: string
}

/** Contents whose votes are remembered for overrules; more are only reached by an owner who grants attempt after attempt. */
export const decidedLimit = 50

/** What is counted of a mission itself, beside its tasks. */
export interface MissionSums {
  mission: string
  /** Gates and thresholds that the owner waived. */
  bypasses: number
  deadlinesMet: number
  deadlinesMissed: number
}

export function newTask(place: Pick<TaskSums, 'task' | 'mission' | 'assignee' | 'rubric'>): TaskSums {
  return {
    ...place,
    assessments: 0,
    passed: 0,
    scores: noScores,
    dimensions: {},
    reviewMs: 0,
    recent: [],
    executions: 0,
    fixes: 0,
    deadlinesMet: 0,
    deadlinesMissed: 0,
    forceAccepts: 0,
    judges: {},
    handedIn: 0,
    decided: [],
  }
}
