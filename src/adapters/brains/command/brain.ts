import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Brain } from '../../../contract/agent.ts'
import { durationMs } from '../../../contract/config/duration.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion, WorkEnding, WorkOrder } from '../../../ports/brain.ts'
import { buildEnv, isNeverPassed } from '../../process/environment.ts'
import { withPrivateFolder } from '../../process/files/private-folder.ts'
import type { ProcessEnding, RunRequest } from '../../process/process.ts'
import { runProcess } from '../../process/run.ts'
import { judgeEnding, workEnding } from './endings.ts'
import { type Ground, judgeGround, plainGround } from './ground.ts'

export interface CommandBrainOptions {
  brain: Extract<Brain, { kind: 'command' }>
  /** Absolute folder of the configuration: relative programs and folders start there, and its `.assay/` is hidden where a sandbox is available. */
  configDir: string
  /** Names of environment variables that every command gets besides the harmless ones and its own. */
  passEnv?: readonly string[]
  /** Time for a worker's turn, and for a judge's sitting, where the brain sets no `timeout`. */
  attemptTimeoutMs: number
  judgeTimeoutMs: number
  /** Most bytes kept of each of a worker's two outputs, of a judge's reply, and of a case. */
  maxOutputBytes: number
  maxReplyBytes: number
  maxCaseBytes: number
  /** How long a process may take to end after SIGTERM. */
  killGraceMs?: number
  /** Files and folders hidden from commands besides `.assay/`. */
  hidden?: readonly string[]
  /** Files that no command may change where a sandbox is available: the configuration, and the programs of judges. */
  readOnly?: readonly string[]
  /** What a sandboxed worker may write besides its workspace and temporary files; nothing unless told. */
  workersWrite?: 'workspace' | 'everywhere'
  /** Where private folders of single runs are made; the system's folder for temporary files unless told. */
  privateRoot?: string
}

/** A program as worker or judge: prompt on standard input, answer on standard output. */
export function openCommandBrain(options: CommandBrainOptions): BrainPort {
  return {
    conversational: false,
    work: (order, signal) => withPrivateFolder((folder) => work(options, order, folder, signal), options.privateRoot),
    judge: (question, signal) => withPrivateFolder((folder) => judge(options, question, folder, signal), options.privateRoot),
    close: () => Promise.resolve(),
  }
}

async function work(options: CommandBrainOptions, order: WorkOrder, folder: string, signal: AbortSignal): Promise<WorkEnding> {
  const caseFile = join(folder, 'case.json')
  const ending = await run(options, folder, {
    ground: plainGround(options.brain.argv, options.configDir),
    cwd: options.brain.cwd === undefined ? order.workspace : resolve(options.configDir, options.brain.cwd),
    stdin: order.prompt,
    timeoutMs: options.attemptTimeoutMs,
    maxOutputBytes: options.maxOutputBytes,
    signal,
    variables: {
      ASSAY_TASK: order.task.id,
      ASSAY_AGENT: order.agent,
      ASSAY_ATTEMPT: String(order.attempt),
      ASSAY_WORKSPACE: order.workspace,
      ASSAY_CASE_FILE: caseFile,
    },
    files: {
      writable: [order.workspace],
      readOnly: [join(order.workspace, '.git')],
      elsewhere: options.workersWrite === 'everywhere' ? 'writable' : 'readable',
    },
  })
  return await workEnding(ending, caseFile, options.maxCaseBytes)
}

async function judge(options: CommandBrainOptions, question: JudgeQuestion, folder: string, signal: AbortSignal): Promise<JudgeEnding> {
  const snapshot = await question.snapshot()
  const ground = await judgeGround(options.brain.argv, options.configDir, [
    ...(question.before ? [question.before] : []),
    ...(question.beside ?? []),
  ])
  const ending = await run(options, folder, {
    ground,
    // Never the work: interpreters load what lies where they are started.
    cwd: ground.at(options.brain.cwd ?? '.'),
    stdin: question.prompt,
    timeoutMs: options.judgeTimeoutMs,
    maxOutputBytes: options.maxReplyBytes,
    signal,
    variables: {
      ASSAY_TASK: question.task.id,
      ASSAY_AGENT: question.judge,
      ASSAY_ATTEMPT: String(question.attempt),
      ASSAY_REVIEW: String(question.review),
      ASSAY_SEAT: String(question.seat),
      ASSAY_ROUND: String(question.round),
      ASSAY_SNAPSHOT: snapshot,
    },
    files: { writable: [], readOnly: [snapshot, ...ground.copies] },
  })
  return judgeEnding(ending)
}

interface Turn extends Pick<RunRequest, 'cwd' | 'timeoutMs' | 'maxOutputBytes'> {
  ground: Ground
  stdin: string
  signal: AbortSignal
  variables: Record<string, string>
  files: NonNullable<RunRequest['sandbox']>
}

async function run(options: CommandBrainOptions, folder: string, turn: Turn): Promise<ProcessEnding> {
  const { brain, configDir } = options
  const pass = [...(options.passEnv ?? []), ...(brain.env ?? [])]
  const refused = pass.filter(isNeverPassed)
  if (refused.length > 0)
    return { kind: 'not_started', code: 'EINVAL', message: `${refused.join(', ')} is never passed to a process; remove it from \`env\`` }
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  return await runProcess({
    argv: turn.ground.argv,
    base: turn.ground.base,
    cwd: turn.cwd,
    env: buildEnv({ pass, extra: { TMPDIR: temporary, ...turn.variables } }),
    stdin: turn.stdin,
    timeoutMs: brain.timeout === undefined ? turn.timeoutMs : durationMs(brain.timeout),
    maxOutputBytes: turn.maxOutputBytes,
    killGraceMs: options.killGraceMs ?? 5_000,
    signal: turn.signal,
    sandbox: {
      ...turn.files,
      writable: [...turn.files.writable, folder],
      readOnly: [...(turn.files.readOnly ?? []), ...untouchable(options, turn.files.writable)],
      hidden: [join(configDir, '.assay'), ...(options.hidden ?? [])],
      network: brain.network === false ? 'none' : 'all',
    },
  })
}

/** The project's own folder cannot be written but for the workspace in it; the named files not even there. */
function untouchable({ configDir, readOnly = [] }: CommandBrainOptions, writable: readonly string[]): string[] {
  return writable.some((path) => resolve(path) === resolve(configDir)) ? [...readOnly] : [configDir, ...readOnly]
}
