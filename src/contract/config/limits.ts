import { z } from 'zod'
import { Duration } from './duration.ts'

const kib = 1024
const mib = 1024 * kib

const bytes = (fallback: number, most = 1024 * mib) => z.int().min(kib).max(most).default(fallback)

/** Everything under `limits:`. Attempts, retries, cost and delegation have theirs in their own sections. */
export const LimitSettings = z
  .strictObject({
    attemptTimeout: Duration.default('30m').describe("Time for a worker's turn, where its brain sets no `timeout`."),
    attemptTurns: z.int().min(1).max(10_000).default(60).describe("Answers of a model in one worker's turn."),
    attemptCost: z
      .number()
      .positive()
      .optional()
      .describe("US dollars that a worker's turn may cost, for models with `prices` and for agents that say what they cost."),
    checkTimeout: Duration.default('10m').describe('Time for a check, where it sets no `timeout`.'),
    judgeRequest: Duration.default('120s').describe('Time for one request to a judge.'),
    judgeFirstByte: Duration.default('100s').describe(
      'Time until the first byte of an answer comes; never longer than `judgeRequest`. Models answer in one piece, so it is the time to think.',
    ),
    judgeSitting: Duration.default('10m').describe("Time for a judge's whole sitting: all its requests and turns."),
    judgeTurns: z.int().min(1).max(500).default(20).describe('Turns in which a judge may read before it has to answer.'),
    judgeRetries: z.int().min(0).max(20).default(3).describe('Requests repeated, with growing pauses, to a judge that cannot be reached.'),
    heldReviewRetry: Duration.default('60s').describe('Pause before a review held for want of a reachable judge is tried again.'),
    workerLease: Duration.default('60s').describe('How long a process may be silent before its work is given to another.'),
    outsideLease: Duration.default('10m').describe(
      'How long an outside worker (MCP, HTTP, hook) may be silent before its attempt is charged and given up.',
    ),
    replyBytes: bytes(1 * mib).describe("Most bytes of a judge's reply."),
    outputBytes: bytes(4 * mib).describe('Most bytes of output kept of a worker or a check; what is left out is named.'),
    promptBytes: bytes(512 * kib).describe('Most bytes of a prompt; what does not fit is named in it, with its size.'),
    caseBytes: bytes(256 * kib, 256 * kib).describe('Most bytes of a case; no more than 256 KiB are ever read.'),
    snapshotBytes: bytes(256 * mib).describe('Most bytes of the content of one review.'),
    snapshotFiles: z.int().min(1).max(1_000_000).default(20_000).describe('Most files of one review.'),
    requestBytes: bytes(8 * mib).describe('Most bytes of the body of an HTTP request.'),
    missionBytes: bytes(64 * mib).describe('Most bytes of a mission file.'),
    missionTasks: z.int().min(1).max(1_000_000).default(100_000).describe('Most tasks of a mission.'),
    queueLength: z.int().min(1).max(10_000_000).default(1_000_000).describe('Most pieces of work that may wait.'),
    sseBuffer: z
      .int()
      .min(1)
      .max(100_000)
      .default(1_000)
      .describe('Events kept for a slow reader of the live stream before it is cut off.'),
  })
  .prefault({})
