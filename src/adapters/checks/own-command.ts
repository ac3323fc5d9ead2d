import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { CheckSpec } from '../../contract/check.ts'
import { insidePath, programWords } from '../../contract/checks/program.ts'
import { visible } from '../../contract/source/shown.ts'
import type { CheckContext, CheckProgram } from '../../ports/checks.ts'

type CommandSpec = Extract<CheckSpec, { kind: 'command' }>

/** What is run; or which program is nowhere that a worker does not write. */
export type OwnCommand = { argv: string[]; findings: string[] } | { missing: string }

/**
 * The words of a check with its programs where they are not the worker's: a file of the base from the copy, where it is as the base has it; any other from
 * the configuration's folder. What an interpreter is given to run and only the work has is run as a part of the work, and said to be one.
 */
export function ownCommand(spec: CommandSpec, context: CheckContext, projectRoot: string): OwnCommand {
  const argv = [...spec.argv]
  const findings: string[] = []
  const cwd = spec.cwd ?? ''
  const programs: readonly CheckProgram[] = context.programs ?? programWords(spec.argv)
  for (const program of programs) {
    const { at, before, path, module } = program
    const file = module ? undefined : fileOf(program, cwd, context, projectRoot)
    if (file !== undefined) argv[at] = before + file
    else if (program.inBase !== undefined) continue
    else if (at === 0 || (isAbsolute(path) && isLive(path, context))) return { missing: path }
    else if (existsSync(join(context.folder, cwd, path)))
      findings.push(`${visible(path)} is run by the check and is the worker's own: neither the base nor the configuration's folder has it`)
  }
  return { argv, findings }
}

/** Undefined where the word is right as it stands, or means nothing that is ours. */
function fileOf(program: CheckProgram, cwd: string, context: CheckContext, projectRoot: string): string | undefined {
  const { at, path, inBase, ofWork } = program
  const file = asBefore(resolve(projectRoot, path), context.beside ?? [])
  const isOwners = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true && !isLive(file, context)
  if (inBase === undefined || (ofWork && isOwners())) return isOwners() ? file : undefined
  return at > 0 && insidePath(cwd, path) === inBase ? undefined : join(context.folder, inBase)
}

/** Where a file is as it was before others began to work in its folder, be it there by its name or by what a link leads to. */
function asBefore(file: string, beside: NonNullable<CheckContext['beside']>): string {
  if (beside.length === 0) return file
  const names = [join(realFolder(dirname(file)), basename(file)), ...(existsSync(file) ? [realpathSync(file)] : [])]
  for (const name of names)
    for (const { folder, copy } of beside) {
      const way = relative(folder, name)
      if (way !== '..' && !way.startsWith('../')) return join(copy, way)
    }
  return file
}

function realFolder(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** Whether a file lies where the worker writes. What is installed is watched over by other means. */
function isLive(file: string, { live, kept = [] }: CheckContext): boolean {
  if (live === undefined || !existsSync(file)) return false
  const way = relative(live, realpathSync(file))
  if (kept.some((path) => way === path || way.startsWith(`${path}/`))) return false
  return way !== '..' && !way.startsWith('../') && !way.split('/').includes('node_modules')
}
