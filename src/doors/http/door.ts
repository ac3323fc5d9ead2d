import type { Result } from '../../contract/errors.ts'
import type { DeliverableReview } from '../../engine/deliverables/review.ts'
import type { OneShotEnd } from '../../engine/review/one-shot.ts'
import type { Who } from './authority/who.ts'
import type { Jobs } from './jobs.ts'
import type { HttpWorld } from './world.ts'

/** The world, and what this server keeps in memory. */
export interface Door extends HttpWorld {
  reviews: Jobs<OneShotEnd>
  submissions: Jobs<Result<DeliverableReview>>
}

/** One request, parsed and known who by. */
export interface Call<Params, Query, Body> {
  door: Door
  who: Who
  params: Params
  query: Query
  body: Body
  /** `Idempotency-Key`, where one was sent. */
  key: string | undefined
}
