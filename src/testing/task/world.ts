import type { Agent, Brain } from '../../contract/agent.ts'
import { type ReviewSettings, ReviewSettings as ReviewSettingsSchema } from '../../contract/config/review.ts'
import type { Policy } from '../../contract/policy.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { policyDigest } from '../../core/policy/policy.ts'
import type { Rules } from '../../core/task/draft.ts'

type ReviewOverrides = Partial<Omit<ReviewSettings, 'panel'>> & { panel?: Partial<ReviewSettings['panel']> }

/** A small organisation: one worker, its manager, three reviewers. */
export const fiveAgents: Record<string, Agent> = {
  lead: { role: 'manager', brain: 'judge' },
  dev: { role: 'engineer', brain: 'shell', reportsTo: 'lead' },
  qa: { role: 'reviewer', brain: 'judge' },
  qa2: { role: 'reviewer', brain: 'judge', instructions: 'Look for what is missing.' },
  qa3: { role: 'reviewer', brain: 'judge', instructions: 'Try to break it.' },
}

export const twoBrains: Record<string, Brain> = {
  judge: { kind: 'model', provider: 'openai-compatible', model: 'any', baseURL: 'http://127.0.0.1:4010/v1' },
  shell: { kind: 'command', argv: ['./worker.sh'] },
}

/** A policy with the product's defaults, but for what a test says. */
export function rulesWith(
  review: ReviewOverrides = {},
  agents: Record<string, Agent> = fiveAgents,
  brains: Record<string, Brain> = twoBrains,
): Rules {
  const policy: Policy = { review: ReviewSettingsSchema.parse(review), agents, brains, other: {} }
  return { policy, digest: policyDigest(policy) }
}

/** A task of `dev` with two hard criteria, but for what a test says. */
export function specWith(overrides: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: 'mission/task',
    title: 'Write the core',
    description: 'Write core.txt',
    assignee: 'dev',
    criteria: [
      { id: 'AC1', text: 'core.txt exists', hard: true },
      { id: 'AC2', text: 'it says hello', hard: true },
    ],
    checks: [],
    dimensions: ReviewSettingsSchema.parse({}).dimensions,
    bar: 60,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' },
    expectsDiff: true,
    depth: 0,
    ...overrides,
  }
}
