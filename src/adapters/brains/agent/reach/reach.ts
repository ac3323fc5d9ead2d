import { lstatSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { visible } from '../../../../contract/source/shown.ts'
import { firstBytes } from '../../../process/program.ts'
import type { KnownAgent } from '../known-agent.ts'
import { ownFiles } from '../own-things.ts'
import { wayTo } from './way.ts'

/** Scripts whose interpreter is a script in turn, one after the other; the system takes no more. */
const mostInterpreters = 4

export interface Reach {
  agent: KnownAgent
  /** As the agent gets it. */
  env: Readonly<Record<string, string>>
  /** Folders that workers may write: the project, and the workspaces that are known. */
  grounds: readonly string[]
}

interface Thing {
  /** What it is to the agent. */
  what: string
  path: string
  /** What to do where a worker can write it. */
  mend: string
}

/**
 * Why an agent's verdict would not be its own, in words: its program, or something that it reads before it says anything, lies where a worker may write, or is
 * reached through there. What it holds is not looked at: agents update themselves, and nobody can tell an update from a forgery. Undefined where all is elsewhere.
 */
export function withinReach({ agent, env, grounds }: Reach): string | undefined {
  const real = [...new Set(grounds.map(realFolder))]
  for (const { what, path, mend } of [...programs(agent, env), ...things(agent, env)]) {
    if (!isAbsolute(path))
      return `${agent.program} does not judge: ${what} is ${visible(path === '' ? '(empty)' : path)}, which leads into the work that is judged; name it by its whole path`
    const place = wayTo(path).findLast((step) => real.some((ground) => isWithin(ground, step)))
    if (place !== undefined) {
      const through = place === path ? '' : `, through ${visible(place)}`
      return `${agent.program} does not judge: ${what} is ${visible(path)}${through}, where workers can write; ${mend}`
    }
  }
  return undefined
}

/** The program that PATH finds, what stands before it and cannot be run yet, and what runs it. */
function programs({ program, install }: KnownAgent, env: Reach['env']): Thing[] {
  const mend = `install it outside of the project and of every workspace (${install}) and let PATH find it there first`
  const found = inPath(program, env.PATH ?? '').map((path) => ({ what: 'its program', path, mend }))
  const last = found.at(-1)
  return last === undefined ? [] : [...found, ...interpreters(last.path, env.PATH ?? '')]
}

/** Places in PATH where something has this name, up to the first that can be run. */
function inPath(name: string, path: string): string[] {
  const found: string[] = []
  for (const folder of path.split(':').filter(isAbsolute)) {
    const file = join(folder, name)
    if (!isEntry(file)) continue
    found.push(file)
    if (isRunnable(file)) break
  }
  return found
}

function interpreters(file: string, path: string): Thing[] {
  const mend = 'let PATH find it outside of the project and of every workspace'
  const found: Thing[] = []
  for (let script = file; found.length < mostInterpreters * 2; ) {
    const [interpreter, ...words] =
      /^#![ \t]*([^\r\n]+)/
        .exec(firstBytes(script))?.[1]
        ?.trim()
        .split(/[ \t]+/) ?? []
    if (interpreter === undefined) break
    found.push({ what: 'the interpreter of its program', path: interpreter, mend })
    // `env` looks the interpreter up.
    const name = /(^|\/)env$/.test(interpreter) ? words.find((word) => !word.startsWith('-') && !word.includes('=')) : undefined
    const looked = name === undefined ? [] : name.includes('/') ? [name] : inPath(name, path)
    found.push(...looked.map((place) => ({ what: 'the interpreter of its program', path: place, mend })))
    const next = name === undefined ? interpreter : looked.at(-1)
    if (next === undefined || !isAbsolute(next)) break
    script = next
  }
  return found
}

function things(agent: KnownAgent, env: Reach['env']): Thing[] {
  const files = ownFiles(agent, env).map(({ path, variable }) => ({
    what: 'what it keeps of its own',
    path,
    mend: `keep it outside of the project and of every workspace${variable === undefined ? '' : ` (${variable} says where it is)`}`,
  }))
  const named = (agent.reads ?? []).flatMap((name) =>
    (env[name] ?? '')
      .split(':')
      .filter((path) => path !== '')
      .map((path) => ({ what: `what ${name} names`, path, mend: 'keep it outside of the project and of every workspace' })),
  )
  return [...files, ...named]
}

function isEntry(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return false
  }
}

function isRunnable(path: string): boolean {
  const real = realOf(path)
  const stat = real === undefined ? undefined : statSync(real, { throwIfNoEntry: false })
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return undefined
  }
}

function realFolder(folder: string): string {
  return realOf(folder) ?? folder
}

function isWithin(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}
