import { z } from 'zod'
import { Duration } from './config/duration.ts'
import { EnvName } from './config/env-name.ts'

/** Most tokens of one answer of a model that sets no limit of its own. */
export const defaultOutputTokens = 8_192

const timeout = Duration.optional().describe('Time limit of a turn, e.g. `90s`, `10m`.')

/** What does the thinking. Brains that nothing uses are not opened. */
export const Brain = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('model'),
    provider: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']).describe('Who serves the model.'),
    model: z.string().min(1).describe('Model name as the provider knows it.'),
    baseURL: z.string().optional().describe('Address of the API; needed for `openai-compatible`.'),
    apiKeyEnv: EnvName.optional().describe(
      'Name of the environment variable that holds the key. The key itself is never written in a file.',
    ),
    prices: z
      .strictObject({
        inputPerMillion: z.number().nonnegative().describe('US dollars for a million tokens that are sent.'),
        outputPerMillion: z.number().nonnegative().describe('US dollars for a million tokens that come back.'),
      })
      .optional()
      .describe('What the model costs; without it, tokens are counted and money is not.'),
    maxOutputTokens: z.int().positive().optional().describe(`Most tokens of one answer; without it, ${defaultOutputTokens}.`),
  }),
  z.strictObject({
    kind: z.literal('command'),
    argv: z.array(z.string()).min(1).describe('Program and arguments; no shell. A relative path is relative to the config file.'),
    cwd: z.string().optional().describe('Folder to run in; without it, the workspace.'),
    env: z.array(EnvName).optional().describe('Names of environment variables passed through.'),
    network: z.boolean().optional().describe('False: in a sandbox it has no network but a loopback of its own.'),
    timeout,
  }),
  z.strictObject({
    kind: z.literal('agent'),
    agent: z.enum(['claude', 'codex', 'gemini', 'opencode']).describe('A known command-line agent.'),
    model: z.string().optional().describe('Model name as the agent knows it.'),
    env: z.array(EnvName).optional().describe('Names of environment variables passed through.'),
    timeout,
  }),
  z.strictObject({
    kind: z.literal('scripted'),
    file: z.string().min(1).describe('YAML file that says what workers do and judges answer; relative to the config file.'),
  }),
  z
    .strictObject({ kind: z.literal('outside') })
    .describe('A worker or reviewer that Assay does not start: it takes its task and hands in its case, or its verdict, itself.'),
])
export type Brain = z.infer<typeof Brain>

/** A named member of the organisation. */
export const Agent = z.strictObject({
  role: z.string().min(1).describe('What the agent is for; `reviewer` and `qa` make it a reviewer.'),
  brain: z.string().min(1).describe('Name of a brain.'),
  instructions: z.string().optional().describe('Standing instructions; part of who the agent is.'),
  reportsTo: z.string().optional().describe('Name of its manager.'),
  skills: z.array(z.string()).optional().describe('Skills it loads as a worker. A reviewer may have none.'),
  judges: z.boolean().optional().describe('Lets a command or outside brain judge without a reviewer role.'),
})
export type Agent = z.infer<typeof Agent>
export const Agents = z.record(z.string(), Agent)
export const Brains = z.record(z.string(), Brain)
/** Agents and brains by name: the part of the policy that says who may judge whom. */
export interface Organisation {
  agents: Record<string, Agent>
  brains: Record<string, Brain>
}

/** Most that one request may cost in US dollars: every three bytes that are sent are taken for a token, and the answer for as long as it may be. */
export function mostCost(prices: { inputPerMillion: number; outputPerMillion: number }, sentBytes: number, outputTokens: number): number {
  return (Math.ceil(sentBytes / 3) * prices.inputPerMillion + outputTokens * prices.outputPerMillion) / 1_000_000
}
