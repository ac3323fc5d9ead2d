import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { openAgentBrain } from '../adapters/brains/agent/brain.ts'
import { openCommandBrain } from '../adapters/brains/command/brain.ts'
import { openModelBrain } from '../adapters/brains/model/brain.ts'
import type { Premises } from '../adapters/brains/premises.ts'
import { openScriptedBrain } from '../adapters/brains/scripted/brain.ts'
import { tokenPath } from './token-path.ts'
import { protectedFiles, type Watched, watched, watchedFiles } from './brain-files.ts'
import type { Brain } from '../contract/agent.ts'
import type { Config } from '../contract/config/config.ts'
import { durationMs } from '../contract/config/duration.ts'
import type { Result } from '../contract/errors.ts'
import type { Problem } from '../contract/source/problem.ts'
import type { Project } from '../engine/project.ts'
import { verdictToolSchema } from '../core/verdict/tool-schema.ts'
import type { BrainPort } from '../ports/brain.ts'

/** Problems with brains that agents use, found before anything starts. */
export function brainProblems({ folder, project }: { folder: string; project: Project }): Problem[] {
  const { agents, brains } = project.config
  const used = new Set(Object.values(agents).map((agent) => agent.brain))
  return [...used].flatMap((name) => {
    const kind = brains[name]?.kind
    if (kind !== 'scripted' && kind !== 'model') return []
    const opened = openBrain(name, folder, project.config)
    return opened.ok ? [] : opened.error
  })
}

export interface OpenBrainOptions {
  privateRoot?: string
  judgeRoot?: string
  notice?: (message: string) => void
  /** What no process sees; the owner's token unless told. */
  hidden?: readonly string[]
  /** The brain's files as they were when the engine was opened. */
  watching?: readonly Watched[]
}

/** A brain by its name in the configuration. */
export function openBrain(
  name: string,
  folder: string,
  config: Config,
  { privateRoot, judgeRoot, notice, watching, hidden = [dirname(tokenPath(process.env))] }: OpenBrainOptions = {},
): Result<BrainPort, Problem[]> {
  const brain = config.brains[name]
  const { limits } = config
  if (brain?.kind === 'scripted') {
    const opened = openScript(resolve(folder, brain.file), brain.file)
    return opened.ok ? { ok: true, value: watched(opened.value, watching ?? watchedFiles(brain, folder)) } : opened
  }
  if (brain?.kind === 'command') {
    const opened = openCommandBrain({
      brain,
      configDir: folder,
      attemptTimeoutMs: durationMs(limits.attemptTimeout),
      judgeTimeoutMs: durationMs(limits.judgeSitting),
      maxOutputBytes: limits.outputBytes,
      maxReplyBytes: limits.replyBytes,
      maxCaseBytes: limits.caseBytes,
      readOnly: protectedFiles(folder, config),
      hidden,
      ...(privateRoot !== undefined && { privateRoot }),
    })
    return { ok: true, value: watched(opened, watching ?? watchedFiles(brain, folder)) }
  }
  const premises: Premises = {
    configDir: folder,
    hidden,
    readOnly: protectedFiles(folder, config),
    ...(privateRoot !== undefined && { privateRoot }),
    ...(judgeRoot !== undefined && { judgeRoot }),
  }
  if (brain?.kind === 'model') return openModel(name, brain, limits, premises, notice)
  if (brain?.kind === 'agent') return { ok: true, value: openAgent(brain, limits, premises, notice) }
  return {
    ok: false,
    error: [{ file: 'assay.yaml', path: `brains.${name}`, message: `brains of the kind ${brain?.kind} are not available in this version` }],
  }
}

function openModel(
  name: string,
  brain: Extract<Brain, { kind: 'model' }>,
  limits: Config['limits'],
  premises: Premises,
  notice: ((message: string) => void) | undefined,
): Result<BrainPort, Problem[]> {
  return openModelBrain({
    name,
    brain,
    env: process.env,
    verdictSchema: verdictToolSchema,
    requestMs: durationMs(limits.judgeRequest),
    firstByteMs: Math.min(durationMs(limits.judgeFirstByte), durationMs(limits.judgeRequest)),
    sittingMs: durationMs(limits.judgeSitting),
    readingTurns: limits.judgeTurns,
    maxReplyBytes: limits.replyBytes,
    maxReadingChars: limits.promptBytes,
    retries: limits.judgeRetries,
    premises,
    work: {
      attemptMs: durationMs(limits.attemptTimeout),
      turns: limits.attemptTurns,
      outputBytes: limits.outputBytes,
      caseBytes: limits.caseBytes,
      ...(limits.attemptCost !== undefined && { costUsd: limits.attemptCost }),
    },
    ...(brain.maxOutputTokens !== undefined && { maxOutputTokens: brain.maxOutputTokens }),
    ...(notice && { notice }),
  })
}

function openAgent(
  brain: Extract<Brain, { kind: 'agent' }>,
  limits: Config['limits'],
  premises: Premises,
  notice: ((message: string) => void) | undefined,
): BrainPort {
  return openAgentBrain({
    brain,
    premises,
    env: process.env,
    verdictSchema: verdictToolSchema,
    attemptTimeoutMs: durationMs(limits.attemptTimeout),
    judgeTimeoutMs: durationMs(limits.judgeSitting),
    maxOutputBytes: limits.outputBytes,
    maxReplyBytes: limits.replyBytes,
    maxCaseBytes: limits.caseBytes,
    ...(limits.attemptCost !== undefined && { budgetUsd: limits.attemptCost }),
    ...(notice && { notice }),
  })
}

function openScript(path: string, file: string): Result<BrainPort, Problem[]> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const shown = relative(process.cwd(), path) || file
    return {
      ok: false,
      error: [
        {
          file: shown,
          path: '',
          message: `the scripted brain cannot be read: ${(error as Error).message}`,
          fix: 'check `file` of the brain',
        },
      ],
    }
  }
  return openScriptedBrain({ file, text })
}
