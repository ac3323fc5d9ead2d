import { buildEnv, pathOutside } from '../../../process/environment.ts'
import type { ProcessEnding } from '../../../process/process.ts'
import { runProcess } from '../../../process/run.ts'
import { WorkspaceFault } from '../../fault.ts'
import { quietSettings, quietSurroundings } from './quiet.ts'

const timeoutMs = 300_000
const maxOutputBytes = 64 * 1024 * 1024
const killGraceMs = 2_000

/** `merge-tree --write-tree` came with it. */
const oldest = [2, 38] as const

export interface GitCall {
  args: readonly string[]
  cwd: string
  /** Variables for this call; they win over ours. */
  env?: Readonly<Record<string, string>>
  stdin?: string
  /** Reads the user's own settings (`~/.gitconfig`): who they are and which folders they trust. */
  personal?: boolean
}

export interface GitAnswer {
  code: number
  stdout: string
  stderr: string
}

/** Runs git: arguments only, nothing of our own environment that names a repository or a program. */
export class Git {
  readonly #program: string
  #known: Promise<void> | undefined

  constructor(program = 'git') {
    this.#program = program
  }

  /** The answer, whatever its exit code. Throws a fault where git did not come to one. */
  async run(call: GitCall): Promise<GitAnswer> {
    this.#known ??= this.#version(call.cwd).catch((error: unknown) => {
      this.#known = undefined
      throw error
    })
    await this.#known
    return this.#spawn(call)
  }

  /** What git printed; a fault where it ended with anything but 0. */
  async text(call: GitCall): Promise<string> {
    const answer = await this.run(call)
    if (answer.code !== 0) throw failure(call, answer.stderr)
    return answer.stdout
  }

  /** The one line that git printed. */
  async line(call: GitCall): Promise<string> {
    return (await this.text(call)).replace(/\n$/, '')
  }

  async #version(cwd: string): Promise<void> {
    const { stdout } = await this.#spawn({ args: ['version'], cwd })
    const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(stdout) ?? []
    const found = [Number(major), Number(minor)] as const
    if (found[0] > oldest[0] || (found[0] === oldest[0] && found[1] >= oldest[1])) return
    const shown = stdout.trim() || 'git of an unknown version'
    throw new WorkspaceFault('git_too_old', `worktrees need git ${oldest.join('.')} or newer; this is ${shown}`)
  }

  #surroundings({ cwd, personal, env: own }: GitCall): Record<string, string> {
    const env = buildEnv({ extra: { ...quietSurroundings, ...(personal ? {} : { GIT_CONFIG_GLOBAL: '/dev/null' }), ...own } })
    return env.PATH === undefined ? env : { ...env, PATH: pathOutside(env.PATH, cwd) }
  }

  async #spawn(call: GitCall): Promise<GitAnswer> {
    const ending = await runProcess({
      argv: [this.#program, '--no-pager', ...quietSettings, ...call.args],
      cwd: call.cwd,
      env: this.#surroundings(call),
      ...(call.stdin !== undefined && { stdin: call.stdin }),
      timeoutMs,
      maxOutputBytes,
      killGraceMs,
    })
    if (ending.kind !== 'exited') throw notEnded(call, ending)
    if (ending.stdoutCut) throw new WorkspaceFault('too_large', `git ${call.args[0]} printed more than ${maxOutputBytes} bytes`)
    return ending
  }
}

function notEnded(call: GitCall, ending: Exclude<ProcessEnding, { kind: 'exited' }>): WorkspaceFault {
  switch (ending.kind) {
    case 'not_started':
      return ending.code === 'ENOENT'
        ? new WorkspaceFault('git_missing', `a worktree needs git, which cannot be run: ${ending.message}`)
        : new WorkspaceFault('git_failed', `git could not be started: ${ending.message}`)
    case 'timed_out':
      return failure(call, `it did not end within ${ending.timeoutMs} ms`)
    case 'signalled':
      return failure(call, `it was ended by ${ending.signal}`)
    case 'stopped':
      return failure(call, 'it was stopped')
  }
}

/** A fault in git's own words. */
export function failure(call: Pick<GitCall, 'args'>, said: string): WorkspaceFault {
  const full = /No space left on device|Disk quota exceeded/.test(said)
  const words = said.trim().slice(-2000) || 'it did not say why'
  const doing = call.args.find((arg) => !arg.startsWith('-')) ?? ''
  return new WorkspaceFault(full ? 'disk_full' : 'git_failed', `git ${doing} failed: ${words}`)
}
