import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { openCommandBrain } from '../adapters/brains/command/brain.ts'
import { openScriptedBrain } from '../adapters/brains/scripted/brain.ts'
import { filesOf, protectedFiles, watched } from './brain-files.ts'
import type { Config } from '../contract/config/config.ts'
import { durationMs } from '../contract/config/duration.ts'
import type { Result } from '../contract/errors.ts'
import type { Problem } from '../contract/source/problem.ts'
import type { Project } from '../engine/project.ts'
import type { BrainPort } from '../ports/brain.ts'

/** Problems with brains that agents use, found before anything starts. */
export function brainProblems({ folder, project }: { folder: string; project: Project }): Problem[] {
  const { agents, brains } = project.config
  const used = new Set(Object.values(agents).map((agent) => agent.brain))
  return [...used].flatMap((name) => {
    if (brains[name]?.kind !== 'scripted') return []
    const opened = openBrain(name, folder, project.config)
    return opened.ok ? [] : opened.error
  })
}

/** A brain by its name in the configuration. */
export function openBrain(name: string, folder: string, config: Config, privateRoot?: string): Result<BrainPort, Problem[]> {
  const brain = config.brains[name]
  const { limits } = config
  if (brain?.kind === 'scripted') return openScript(resolve(folder, brain.file), brain.file)
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
      ...(privateRoot !== undefined && { privateRoot }),
    })
    return { ok: true, value: watched(opened, filesOf(brain, folder)) }
  }
  return {
    ok: false,
    error: [{ file: 'assay.yaml', path: `brains.${name}`, message: `brains of the kind ${brain?.kind} are not available in this version` }],
  }
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
