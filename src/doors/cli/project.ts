import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import { type Project, readProject } from '../../engine/project.ts'
import type { Terminal } from './app.ts'
import { configAbove } from './config-file.ts'

/** Flags that set knobs of the configuration, as commander names them. */
export interface ConfigFlags {
  config?: string
  /** `--no-eval` makes it false. */
  eval?: boolean
  evalThreshold?: string
  maxAttempts?: string
  failOpen?: boolean
  maxCost?: string
}

export interface FoundProject {
  project: Project
  /** Folder of the config file: everything relative in it is relative to this, and `.assay/` lives here. */
  folder: string
  /** Name of the config file for people; null where defaults are in force. */
  file: string | null
}

/** Finds and loads the configuration: the named file, `assay.yaml` here or above, or none at all (defaults). */
export function findProject({ cwd, env }: Pick<Terminal, 'cwd' | 'env'>, flags: ConfigFlags): Result<FoundProject, Problem[]> {
  const path = flags.config === undefined ? configAbove(cwd) : resolve(cwd, flags.config)
  const file = path === null ? null : relative(cwd, path)
  const read = path === null ? { ok: true as const, value: undefined } : readText(path, file ?? path)
  if (!read.ok) return read
  const loaded = readProject({ text: read.value, file: file ?? 'assay.yaml', env, flags: knobFlags(flags) })
  if (!loaded.ok) return loaded
  return { ok: true, value: { project: loaded.value, folder: path === null ? cwd : dirname(path), file } }
}

/** A file's text, or a problem that names the file. */
export function readText(path: string, file: string): Result<string, Problem[]> {
  try {
    return { ok: true, value: readFileSync(path, 'utf8') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'this is a folder' : `it cannot be read (${code})`
    return { ok: false, error: [{ file, path: '', message: why, fix: 'check the path' }] }
  }
}

/** The flags that set knobs, by the name that the configuration knows them by. */
export function knobFlags(flags: ConfigFlags): Record<string, string | boolean | undefined> {
  return {
    '--no-eval': flags.eval === false ? true : undefined,
    '--eval-threshold': flags.evalThreshold,
    '--max-attempts': flags.maxAttempts,
    '--fail-open': flags.failOpen,
    '--max-cost': flags.maxCost,
  }
}
