import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { Result } from '../../contract/errors.ts'
import type { HookRequest } from '../../doors/cli/app.ts'
import { dialects, homeFolder } from '../../doors/hook/dialects.ts'
import { changedSettings } from '../../doors/hook/settings.ts'

/** Puts the hook into an agent's settings or takes it out. Says what changes, line by line; in a dry run nothing is written. */
export async function changeHook(
  { agent, folder, remove, dryRun }: HookRequest,
  env: NodeJS.ProcessEnv,
): Promise<Result<string[], string>> {
  const dialect = dialects[agent]
  if (!dialect) return { ok: false, error: `there is no hook for ${agent}; there are ${Object.keys(dialects).join(', ')}` }
  const file = dialect.settings(folder, homeFolder(env))
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (before === undefined && remove) return { ok: true, value: [] }
  const after = changedSettings(before, dialect, remove ? undefined : `${program(env)} hook --agent ${agent}`)
  if (!after.ok) return { ok: false, error: `${file}: ${after.error}` }
  if (sameJson(before, after.value)) return { ok: true, value: [] }
  if (!dryRun) write(file, after.value)
  const patch = createTwoFilesPatch(
    file,
    file,
    before ?? '',
    after.value,
    before === undefined ? '(none)' : '',
    after.value === '' ? '(removed)' : '',
  )
  return { ok: true, value: patch.split('\n').filter((line) => !/^(=+|Index:|\\ No newline)/.test(line)) }
}

/** Settings that say the same are left as they are written. */
function sameJson(before: string | undefined, after: string): boolean {
  if (before === undefined || after === '') return false
  try {
    return JSON.stringify(JSON.parse(before)) === JSON.stringify(JSON.parse(after))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Whole or not at all: an agent may read its settings at any time. */
function write(file: string, text: string): void {
  if (text === '') return rmSync(file, { force: true })
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.assay-${process.pid}`
  writeFileSync(draft, text)
  renameSync(draft, file)
}

/** `assay` where the shell finds it; else through npm, which finds the project's own. */
function program(env: NodeJS.ProcessEnv): string {
  const found = (env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && !folder.includes('node_modules') && existsSync(join(folder, 'assay')))
  return found ? 'assay' : 'npx --no-install assay'
}
