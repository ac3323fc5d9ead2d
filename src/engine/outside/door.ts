import type { Result } from '../../contract/errors.ts'
import type { SnapshotReader } from '../../ports/brain.ts'
import type { Bench } from '../work/bench.ts'
import { beatTask, type OutsideReview, outsideReview, type SubmittedCase, submitOutside, type TakenTask, takeTask } from './outside.ts'
import {
  type AwaitedReview,
  awaitedReviews,
  type Brief,
  briefOf,
  type SubmittedVerdict,
  submitVerdict,
  type VerdictTaken,
  workUnderReview,
} from './seats.ts'

/** What doors offer to those whom Assay does not start. */
export interface OutsideDoor {
  /** A worker takes a task that is its own, shows that it is there, submits its case, hears of the review. */
  take(task: string, worker: string): Promise<Result<TakenTask>>
  beat(task: string, worker: string): Promise<Result<{ attempt: number }>>
  submit(submitted: SubmittedCase): Promise<Result<{ problems: string[] }>>
  review(task: string): Promise<Result<OutsideReview>>
  /** A judge sees what awaits it, gets the question, looks at the work, gives its verdict. */
  awaited(judge: string): Promise<AwaitedReview[]>
  brief(review: string, judge: string, promptBytes: number): Promise<Result<Brief>>
  work(review: string, judge: string): Promise<Result<{ nonce: string; reader: SnapshotReader }>>
  verdict(submitted: SubmittedVerdict): Promise<Result<VerdictTaken>>
}

export function outsideDoor(bench: Bench): OutsideDoor {
  return {
    take: (task, worker) => takeTask(bench, task, worker),
    beat: (task, worker) => beatTask(bench, task, worker),
    submit: (submitted) => submitOutside(bench, submitted),
    review: (task) => outsideReview(bench, task),
    awaited: (judge) => awaitedReviews(bench, judge),
    brief: (review, judge, promptBytes) => briefOf(bench, review, judge, promptBytes),
    work: (review, judge) => workUnderReview(bench, review, judge),
    verdict: (submitted) => submitVerdict(bench, submitted),
  }
}
