import { execFile, spawn } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'

const assay = join(import.meta.dirname, '..', '..', 'bin', 'assay.mjs')
const run = promisify(execFile)

export interface Rehearsal {
  /** The repository, with Assay's configuration in it. */
  folder: string
  env: Record<string, string>
}

type Settings = Record<string, Record<string, unknown>>

/** Makes a repository of the example in an empty folder; these settings go over those of its configuration, section by section. */
export async function stageRepository({ folder, env }: Rehearsal, changes: Settings): Promise<void> {
  await cp(join(import.meta.dirname, 'repository'), folder, { recursive: true })
  const place = join(folder, 'assay.yaml')
  const config = parse(await readFile(place, 'utf8')) as Settings
  const changed = Object.entries(changes).map(([section, settings]) => [section, { ...config[section], ...settings }])
  await writeFile(place, stringify({ ...config, ...Object.fromEntries(changed) }))
  for (const words of [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    ['commit', '-qm', 'Durations, with a failing test'],
  ])
    await git({ folder, env }, ...words)
}

export async function git({ folder, env }: Rehearsal, ...words: string[]): Promise<string> {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
  return (await run('git', [...who, ...words], { cwd: folder, env })).stdout
}

/** Runs `assay` in the repository, and stops it as soon as it says something that matches; tells what it printed and its exit code. */
export async function assayIn(
  { folder, env }: Rehearsal,
  words: readonly string[],
  stopAt?: RegExp,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [assay, ...words], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
      if (stopAt?.test(texts[name])) child.kill('SIGINT')
    })
  // It does not outlive whoever runs it.
  const end = () => void child.kill('SIGTERM')
  process.once('exit', end)
  const code = await new Promise<number | null>((resolve, refuse) => {
    child.once('error', refuse)
    child.once('close', resolve)
  })
  process.removeListener('exit', end)
  return { code, ...texts }
}
