import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelBrainOptions } from '../../adapters/brains/model/brain.ts'
import type { BrainPort, Talk, WorkOrder } from '../../ports/brain.ts'
import { specWith } from '../task/world.ts'
import type { Message } from './answers.ts'
import { modelJudge, type ProviderName } from './model-judge.ts'
import type { ModelServer } from './server.ts'

/** A case that any task with the two usual criteria takes. */
export const sampleCase = JSON.stringify({
  summary: 'Wrote core.txt.',
  ac_coverage: [
    { criterion: 'AC1', pointer: 'core.txt:1' },
    { criterion: 'AC2', pointer: 'core.txt:1' },
  ],
})

/** A call of `submit_case` with these arguments, as they stand. */
export function handIn(args: string = sampleCase, text?: string): Message {
  return { kind: 'message', calls: [{ name: 'submit_case', args }], ...(text !== undefined && { text }) }
}

/** What a worker told its talk, in order. */
export type Told =
  | { kind: 'calling'; tool: string }
  | { kind: 'called' }
  | { kind: 'submitted'; raw: string; output: string; usage: unknown }
  | { kind: 'refused'; why: string; raw: string; usage: unknown }
  | { kind: 'quiet' }
  | { kind: 'kept' }

export interface MemoryTalk extends Talk {
  stored: string[]
  told: Told[]
}

type Outcome = Awaited<ReturnType<Talk['submit']>>

/** A conversation kept in memory. Cases are taken unless told otherwise, one outcome after the other. */
export function memoryTalk(outcomes: Outcome[] = [], before: readonly string[] = [], answer?: string, refused?: string[]): MemoryTalk {
  const stored = [...before]
  const told: Told[] = []
  let reminded = false
  return {
    stored,
    told,
    answer,
    refused,
    calling: async (tool, said) => {
      stored.push(said)
      told.push({ kind: 'calling', tool })
    },
    called: async (said) => {
      stored.push(said)
      told.push({ kind: 'called' })
    },
    keep: async (said) => {
      stored.push(said)
      told.push({ kind: 'kept' })
    },
    submit: async (raw, said, output, usage) => {
      stored.push(said)
      told.push({ kind: 'submitted', raw, output, usage })
      return outcomes.shift() ?? { kind: 'taken' }
    },
    refuse: async (why, raw, said, usage) => {
      stored.push(said)
      told.push({ kind: 'refused', why, raw, usage })
      const outcome = outcomes.shift()
      return outcome?.kind === 'over' ? { kind: 'over' } : { kind: 'refused', problems: [why] }
    },
    quiet: async (said) => {
      stored.push(said)
      told.push({ kind: 'quiet' })
      if (reminded) return 'over'
      reminded = true
      return 'reminded'
    },
  }
}

export interface WorkBench {
  project: string
  workspace: string
  brain(provider?: ProviderName, changes?: Partial<ModelBrainOptions>): BrainPort
  order(talk: Talk, changes?: Partial<WorkOrder>): WorkOrder
  remove(): void
}

/** A project with an empty workspace in it, for a model that asks the server. */
export function openWorkBench(server: ModelServer): WorkBench {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'assay-model-worker-')))
  const workspace = mkdtempSync(join(project, 'work-'))
  const work = { attemptMs: 60_000, turns: 60, outputBytes: 1024 * 1024, caseBytes: 64 * 1024 }
  return {
    project,
    workspace,
    brain: (provider = 'openai-compatible', changes = {}) =>
      modelJudge(server, provider, { premises: { configDir: project, privateRoot: project, killGraceMs: 200 }, work, ...changes }),
    order: (talk, changes = {}) => ({
      task: specWith(),
      agent: 'dev',
      instructions: undefined,
      attempt: 1,
      prompt: 'Write core.txt.',
      workspace,
      talk,
      ...changes,
    }),
    remove: () => rmSync(project, { recursive: true, force: true }),
  }
}
