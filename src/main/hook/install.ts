import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { Result } from '../../contract/errors.ts'
import type { HookRequest } from '../../doors/cli/app.ts'
import { obstacle } from '../../doors/cli/init/obstacle.ts'
import { dialects, homeFolder } from '../../doors/hook/dialects.ts'
import { hookCommand, ofProject, quoted } from '../../doors/hook/own-command.ts'
import { changedSettings } from '../../doors/hook/settings.ts'

/** Puts the hook into an agent's settings or takes it out. Says what changes, line by line; in a dry run nothing is written. */
export async function changeHook(
  { agent, folder, remove, dryRun, onlyOfProject = false }: HookRequest,
  env: NodeJS.ProcessEnv,
): Promise<Result<string[], string>> {
  const dialect = dialects[agent]
  if (!dialect) return { ok: false, error: `there is no hook for ${agent}; there are ${Object.keys(dialects).join(', ')}` }
  if (onlyOfProject && !dialect.settings('/project', '/home').startsWith('/project/')) return { ok: true, value: [] }
  const file = dialect.settings(folder, homeFolder(env))
  if (remove && !existsSync(file)) return { ok: true, value: [] }
  const blocked = obstacle(existsSync(dirname(file)) ? targetOf(file) : file, { writes: !remove })
  if (blocked !== undefined) return { ok: false, error: blocked }
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  const command = remove ? undefined : hookCommand(program(folder, env), agent)
  const after = changedSettings(before, { agent, dialect, command })
  if (!after.ok) return { ok: false, error: `${file}: ${after.error}` }
  if (after.value === before) return { ok: true, value: [] }
  // A file that is a link is somebody's arrangement, and stays, if empty.
  const text = after.value === '' && lstatSync(file).isSymbolicLink() ? '{}\n' : after.value
  if (!dryRun) write(file, text)
  if (!dryRun && text === '') removeEmpty(dirname(file), file.startsWith(`${folder}/`) ? folder : homeFolder(env))
  const patch = createTwoFilesPatch(file, file, before ?? '', text, before === undefined ? '(none)' : '', text === '' ? '(removed)' : '')
  return { ok: true, value: patch.split('\n').filter((line) => !/^(=+|Index:|\\ No newline)/.test(line)) }
}

/** Whole or not at all: an agent may read its settings at any time. Links are followed; rights and owner stay as they are. */
function write(file: string, text: string): void {
  if (text === '') return rmSync(file, { force: true })
  mkdirSync(dirname(file), { recursive: true })
  const target = targetOf(file)
  mkdirSync(dirname(target), { recursive: true })
  const draft = `${target}.assay-${process.pid}`
  try {
    const { mode, uid, gid } = statSync(target, { throwIfNoEntry: false }) ?? {}
    writeFileSync(draft, text, { flag: 'wx', mode: mode === undefined ? 0o666 : 0o600 })
    if (uid !== undefined && gid !== undefined && process.getuid?.() === 0) chownSync(draft, uid, gid)
    if (mode !== undefined) chmodSync(draft, mode & 0o777)
    renameSync(draft, target)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Folders on the way to settings are made with them, and go with them if nothing else is in them. One that is a link is somebody's arrangement. */
function removeEmpty(folder: string, root: string): void {
  if (!folder.startsWith(`${root}/`) || !lstatSync(folder).isDirectory() || readdirSync(folder).length > 0) return
  rmdirSync(folder)
  removeEmpty(dirname(folder), root)
}

/** Where a link leads, also where nothing is there yet. */
function targetOf(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  const isLink = statSync(dirname(file)).isDirectory() && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(file), readlinkSync(file)) : file
}

/** `assay` where the shell finds it; the project's own, where it has one; else the program that runs now, wherever it lies. */
function program(folder: string, env: NodeJS.ProcessEnv): string {
  const found = (env.PATH ?? '')
    .split(delimiter)
    .some((path) => path !== '' && !path.includes('node_modules') && isProgram(join(path, 'assay')))
  if (found) return 'assay'
  const launcher = process.argv[1] ?? ''
  if (inPackages(folder) || !/^assay(\.mjs)?$/.test(basename(launcher)) || !existsSync(launcher)) return ofProject
  const real = realpathSync(launcher)
  return isProgram(real) ? quoted(real) : `${quoted(process.execPath)} ${quoted(real)}`
}

/** Whether the packages of a project, or of one around it, bring `assay` along, which is where npx looks. */
function inPackages(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules', '.bin', 'assay'))) return true
  const above = dirname(folder)
  return above !== folder && inPackages(above)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Missing, or not to be run: not found by a shell either.
    return false
  }
}
