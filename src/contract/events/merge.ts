import { z } from 'zod'
import { Content } from '../case.ts'
import { CheckReport } from '../check.ts'
import { taskEvents } from './task.ts'

const attempt = z.int().positive()

/** How a task will be done once its work is merged: the very event that is recorded then. */
export const Acceptance = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('accepted'), ...taskEvents['task.accepted'].shape }),
  z.strictObject({ kind: z.literal('force_accepted'), ...taskEvents['task.force_accepted'].shape, request: z.string() }),
])
export type Acceptance = z.infer<typeof Acceptance>

/** Work in a git worktree joins its mission's branch before its acceptance is recorded. */
export const mergeEvents = {
  'merge.requested': z.strictObject({ acceptance: Acceptance }),
  /** The merge was made and its checks pass; the mission's branch is moved next. */
  'merge.checked': z.strictObject({
    attempt,
    content: z.string(),
    commit: z.string(),
    onto: z.string(),
    reports: z.array(CheckReport),
  }),
  /** The merge changed a file that was reviewed: what it came to is reviewed again. */
  'merge.changed': z.strictObject({ attempt, content: Content, reports: z.array(CheckReport) }),
  'merge.failed': z.strictObject({
    attempt,
    content: z.string(),
    cause: z.enum(['conflict', 'checks']),
    detail: z.string(),
    paths: z.array(z.string()),
    reports: z.array(CheckReport),
    /** Whether the attempt counts; the first few merges that fail do not. */
    charged: z.boolean(),
  }),
  'merge.published': z.strictObject({ attempt, content: z.string(), commit: z.string() }),
}
