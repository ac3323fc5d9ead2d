import { z } from 'zod'

export const Coverage = z.strictObject({
  criterion: z.string().min(1).describe('Id (`AC1`) or exact text of an acceptance criterion.'),
  pointer: z.string().min(1).describe('Where to look: `path:symbol` or `path:line`.'),
  evidence: z.string().optional().describe('What shows it.'),
})

export const DelegationProposal = z.strictObject({
  to: z.string().min(1).describe('Name of the agent that is to do it.'),
  title: z.string().min(1).describe('A few words.'),
  description: z.string().describe('What is to be done.'),
  criteria: z.array(z.string().min(1)).optional().describe('Acceptance criteria of that task.'),
})
export type DelegationProposal = z.infer<typeof DelegationProposal>

/** What a worker submits to say that it is done. */
export const Case = z.strictObject({
  summary: z.string().trim().min(1).max(4000).describe('One or two lines: what was done.'),
  ac_coverage: z.array(Coverage).max(500).describe('Every acceptance criterion, with a pointer to where it is met.'),
  work_arounds: z.array(z.string()).max(20).optional().describe('Things touched that the criteria do not mention.'),
  uncertainties: z.array(z.string()).max(100).optional().describe('Ambiguities resolved by choosing.'),
  delegations: z
    .array(DelegationProposal)
    .max(50)
    .optional()
    .describe('Follow-up tasks that are proposed; they begin once the work is accepted.'),
})
export type Case = z.infer<typeof Case>

/** Stands for what a worker has to say, where the shape of a case is shown to it. */
export const unfilled = '…'

/** The work a case stands for, as the runtime took it: a snapshot's digest and what it consists of. */
export const Content = z.strictObject({
  /** What a verdict is bound to: the snapshot's digest, or the output's where the output is the work. */
  digest: z.string(),
  /** Digest of the snapshot of the workspace. */
  snapshot: z.string(),
  /** Digest of the snapshot before the first attempt: what the change is measured against. */
  base: z.string(),
  /** No output and no change: there is nothing to look at. */
  empty: z.boolean(),
  /** Changed or produced paths, sorted. */
  paths: z.array(z.string()),
  /** The worker's own output, where that is the work or part of it. */
  output: z.string().optional(),
})
export type Content = z.infer<typeof Content>

/**
 * What a conversational worker and its model have said so far, in pieces that are theirs to read: those in the object store, named by the digest of the
 * latest, and after these the last few, which stand here until they are worth a file.
 */
export const Conversation = z.strictObject({ stored: z.string().nullable(), said: z.array(z.string()) })
export type Conversation = z.infer<typeof Conversation>
