import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Brain } from '../../../contract/agent.ts'
import { durationMs } from '../../../contract/config/duration.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion, WorkEnding, WorkOrder } from '../../../ports/brain.ts'
import { withPrivateFolder } from '../../process/files/private-folder.ts'
import { sandboxState } from '../../process/sandbox.ts'
import { verdictToolFor } from '../model/tools/verdict-tool.ts'
import type { Premises } from '../premises.ts'
import { judgeEnding, workEnding } from './endings.ts'
import type { Ask, KnownAgent } from './known-agent.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { judgePrompt, workPrompt } from './prompts.ts'
import { withinReach } from './reach/reach.ts'
import { agentEnv, type AgentSettings, runAgent } from './run.ts'

type AgentBrain = Extract<Brain, { kind: 'agent' }>

/** Every command-line agent that Assay knows. */
export const knownAgents: Record<AgentBrain['agent'], KnownAgent> = { claude, codex, gemini, opencode }

export interface AgentBrainOptions {
  brain: AgentBrain
  premises: Premises
  /** Where variables come from. */
  env: Readonly<Record<string, string | undefined>>
  /** JSON Schema of a verdict for a question. */
  verdictSchema(question: JudgeQuestion): Record<string, unknown>
  /** Time for a worker's turn, and for a judge's sitting, where the brain sets no `timeout`. */
  attemptTimeoutMs: number
  judgeTimeoutMs: number
  maxOutputBytes: number
  maxReplyBytes: number
  maxCaseBytes: number
  /** US dollars for a worker's turn, where the agent takes a budget. */
  budgetUsd?: number
  /** Told what a user has to know of. */
  notice?(message: string): void
}

/** A known command-line agent as worker or judge: it runs once, without anybody to ask, and what it says of itself is not believed alone. */
export function openAgentBrain(options: AgentBrainOptions): BrainPort {
  const { privateRoot, judgeRoot = privateRoot } = options.premises
  return {
    conversational: false,
    work: (order, signal) => withPrivateFolder((folder) => work(options, order, folder, signal), privateRoot),
    judge: async (question, signal) => {
      const unfit = reachable(options, question)
      if (unfit !== undefined) return { kind: 'unavailable', detail: unfit }
      return await withPrivateFolder((folder) => judge(options, question, folder, signal), judgeRoot)
    },
    close: () => Promise.resolve(),
  }
}

async function work(options: AgentBrainOptions, order: WorkOrder, folder: string, signal: AbortSignal): Promise<WorkEnding> {
  const agent = knownAgents[options.brain.agent]
  const caseFile = join(folder, 'case.json')
  const ran = await runAgent(settings(options), agent, agent.work(await ask(options, folder)), {
    folder,
    cwd: order.workspace,
    files: { writable: [order.workspace] },
    as: 'worker',
    stdin: workPrompt(order),
    timeoutMs: timeoutOf(options, options.attemptTimeoutMs),
    signal,
    variables: {
      ASSAY_TASK: order.task.id,
      ASSAY_AGENT: order.agent,
      ASSAY_ATTEMPT: String(order.attempt),
      ASSAY_WORKSPACE: order.workspace,
      ASSAY_CASE_FILE: caseFile,
    },
  })
  return await workEnding(agent, ran, { caseFile, maxCaseBytes: options.maxCaseBytes, budgetUsd: options.budgetUsd })
}

/** Why the agent is not asked: a worker may have written what it is made of. */
function reachable(options: AgentBrainOptions, { before, beside = [] }: JudgeQuestion): string | undefined {
  const agent = knownAgents[options.brain.agent]
  const grounds = [options.premises.configDir, ...(before ? [before.folder] : []), ...beside.map(({ folder }) => folder)]
  return withinReach({ agent, env: agentEnv(settings(options), agent), grounds })
}

async function judge(options: AgentBrainOptions, question: JudgeQuestion, folder: string, signal: AbortSignal): Promise<JudgeEnding> {
  const agent = knownAgents[options.brain.agent]
  const snapshot = await question.snapshot()
  const { schema, strict } = verdictToolFor('openai', options.verdictSchema(question))
  const schemaFile = join(folder, 'verdict-schema.json')
  const text = JSON.stringify(schema)
  await writeFile(schemaFile, text)
  const asked = { ...(await ask(options, folder)), budgetUsd: undefined, snapshot, schema: text, schemaFile, strict: strict === true }
  const invocation = agent.judge(asked)
  const ran = await runAgent(settings(options), agent, invocation, {
    folder,
    cwd: invocation.elsewhere ? folder : snapshot,
    files: { writable: [], readOnly: [snapshot] },
    as: 'judge',
    stdin: judgePrompt(question, snapshot),
    timeoutMs: timeoutOf(options, options.judgeTimeoutMs),
    signal,
    variables: {
      ASSAY_TASK: question.task.id,
      ASSAY_AGENT: question.judge,
      ASSAY_REVIEW: String(question.review),
      ASSAY_SEAT: String(question.seat),
    },
  })
  return judgeEnding(agent, ran, { nonce: question.nonce, maxReplyBytes: options.maxReplyBytes })
}

async function ask({ brain, budgetUsd }: AgentBrainOptions, folder: string): Promise<Ask> {
  return { model: brain.model, budgetUsd, sandboxed: (await sandboxState()).usable, folder }
}

function settings({ premises, env, brain, maxOutputBytes, notice }: AgentBrainOptions): AgentSettings {
  return { premises, env, named: brain.env ?? [], maxOutputBytes, notice }
}

function timeoutOf({ brain }: AgentBrainOptions, usual: number): number {
  return brain.timeout === undefined ? usual : durationMs(brain.timeout)
}
