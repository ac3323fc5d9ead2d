import { z } from 'zod'
import { MissionOutcome } from '../events/mission.ts'
import { Score } from '../score.ts'
import { TaskItem } from './task.ts'

/** A run of a mission in a list. */
export const MissionItem = z.strictObject({
  id: z.string(),
  name: z.string(),
  policy: z.string().describe('Digest of the policy that it was started under.'),
  plan: z.string().describe('Digest of its plan.'),
  tasks: z.int(),
  added: z.array(z.string()).optional(),
  started: z.string(),
  finished: z.string().optional(),
  outcome: z
    .string()
    .optional()
    .describe(`One of ${MissionOutcome.options.join(', ')}.`),
  threshold: z.enum(['passed', 'failed', 'waived']).optional(),
})

export const GateItem = z.strictObject({
  mission: z.string(),
  name: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  request: z.string().optional(),
  avgScore: Score.optional(),
  weak: z.array(z.string()),
  answered: z.string().optional().describe('When the owner waived it or stopped what is behind it.'),
})

export const MissionDetail = z.strictObject({
  mission: MissionItem,
  gates: z.array(GateItem),
  counts: z.record(z.string(), z.int()).describe('Tasks by state; of those that are done, by flag.'),
  tasks: z.array(TaskItem).describe('The first tasks, in the order of their ids.'),
  next: z.string().nullable().describe('Cursor for `/v1/tasks?mission=` where there are more.'),
  policyChanges: z.array(z.string()).describe('What differs from the policy in force; not empty: it does not go on here.'),
})

export const MissionStarted = z.strictObject({
  mission: z.string(),
  joined: z.boolean().describe('A run of the same plan that is not finished goes on instead of a new one.'),
  notices: z.array(z.string()),
})

/** What a stop or retry came to, task by task. */
export const TasksChanged = z.strictObject({
  mission: z.string(),
  changed: z.array(z.string()),
  refused: z.array(z.strictObject({ task: z.string(), code: z.string(), message: z.string() })),
})

/** Who decided; the name is that of the owner whose token was shown. */
export const Reason = z.strictObject({ reason: z.string().max(4000).default('').describe('Why; kept with the decision.') })
export const NeededReason = z.strictObject({ reason: z.string().trim().min(1).max(4000).describe('Why; kept with the decision.') })
