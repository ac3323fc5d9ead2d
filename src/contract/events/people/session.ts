import { z } from 'zod'

/** What a coding agent's session came to where no review did: facts too, so that nobody takes silence for a pass. */
export const sessionEvents = {
  /** The folder as it was when the session began: what the agent changes is measured against it. */
  'session.started': z.strictObject({
    agent: z.string(),
    session: z.string(),
    snapshot: z.string(),
    /** Digest of the policy in force then: what an agent changes of it during its session does not judge its work. */
    policy: z.string(),
    /** What programs of judges and checks load beside the snapshot, as it stood then. */
    tools: z.string().optional(),
    /** Nobody saw it begin: `snapshot` is the last state that was reviewed before it, or nothing at all. */
    unseen: z.literal(true).optional(),
  }),
  /** The agent was let go with nothing left to judge. While this is the journal's last word and the project looks the same, so is the answer. */
  'session.released': z.strictObject({
    agent: z.string(),
    session: z.string(),
    snapshot: z.string(),
    look: z.string(),
    /** Files that git does not list and the look has seen. */
    hidden: z.array(z.string()).optional(),
  }),
  /** The agent was let go and nobody had judged its work. */
  'session.unreviewed': z.strictObject({
    agent: z.string(),
    session: z.string(),
    reason: z.string(),
    /** What programs of judges and checks load, as it stood then, where that was the reason: the owner's next word accepts it. */
    tools: z.string().optional(),
  }),
}
