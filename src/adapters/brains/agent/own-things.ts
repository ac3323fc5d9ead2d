import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readPlainFile } from '../../process/files/plain-file.ts'
import { withPrivateFolder } from '../../process/files/private-folder.ts'
import type { SandboxRequest } from '../../process/sandbox.ts'
import type { Kept, KnownAgent } from './known-agent.ts'
import { type Renewal, renewedLogin } from './renewal.ts'

/** Most bytes of a login that are read. */
const mostLoginBytes = 1024 * 1024
/** How often a run's login is looked at while it goes on: others go on with a renewed one, and a crash of ours does not lose it. */
const lookEveryMs = 1_000

export interface OwnThings {
  agent: KnownAgent
  env: Readonly<Record<string, string>>
  /** Judges see nothing that instructs a worker. */
  as: 'worker' | 'judge'
  privateRoot: string | undefined
  /** Told where a renewed login cannot be kept. */
  notice: ((message: string) => void) | undefined
}

const homeIn = (env: OwnThings['env']): string => env.HOME ?? homedir()

const placeIn = (env: OwnThings['env'], { at, variable }: Kept): string =>
  (variable === undefined ? undefined : env[variable]) ?? join(homeIn(env), at)

/** Every folder and file of its own that an agent reads as a judge, there or not, with the variable that can name another place. */
export function ownFiles({ keeps, copies = [] }: KnownAgent, env: OwnThings['env']): { path: string; variable?: string }[] {
  return [
    ...keeps.flatMap((folder) => {
      const place = placeIn(env, folder)
      const names = [...(folder.settings ?? []), ...Object.keys(folder.login ?? {}), ...(folder.copies ?? [])]
      const paths = place === '' ? [place] : [place, ...names.map((name) => join(place, name))]
      return paths.map((path) => ({ path, ...(folder.variable !== undefined && { variable: folder.variable }) }))
    }),
    ...copies.map((name) => ({ path: join(homeIn(env), name) })),
  ]
}

/**
 * Runs an agent with what it sees of its own folders. All that it can write there are copies, out of its reach but for their contents; of those nothing
 * comes back to the user's files, and so to other runs, but renewed tokens of its login.
 */
export async function withOwnThings<T>(own: OwnThings, use: (files: Pick<SandboxRequest, 'kept' | 'replaced'>) => Promise<T>): Promise<T> {
  const { agent, env, as, privateRoot } = own
  const home = homeIn(env)
  const placeOf = (folder: Kept) => placeIn(env, folder)
  const kept = agent.keeps.map((folder) => ({
    folder: placeOf(folder),
    writable: [],
    readable: [...(folder.settings ?? []), ...(as === 'worker' ? (folder.instructs ?? []) : [])],
  }))
  const copied: { path: string; renews?: readonly Renewal[] }[] = [
    ...(agent.copies ?? []).map((name) => ({ path: join(home, name) })),
    ...agent.keeps.flatMap((folder) => [
      ...(folder.copies ?? []).map((name) => ({ path: join(placeOf(folder), name) })),
      ...Object.entries(folder.login ?? {}).map(([name, renews]) => ({ path: join(placeOf(folder), name), renews })),
    ]),
  ].filter(({ path }) => existsSync(path))
  return await withPrivateFolder(async (copies) => {
    const things = copied.map((thing, number) => ({ ...thing, by: join(copies, String(number)) }))
    for (const { path, by } of things) await copyFile(path, by)
    const logins = things.flatMap(({ path, by, renews = [] }) => (renews.length === 0 ? [] : [new RunLogin(path, by, renews, own)]))
    const looking = setInterval(() => void Promise.all(logins.map((login) => login.look())), lookEveryMs).unref()
    try {
      return await use({ kept, replaced: things.map(({ path, by }) => ({ path, by })) })
    } finally {
      clearInterval(looking)
      for (const login of logins) await login.look()
    }
  }, privateRoot)
}

/**
 * The login of one run: a copy of the user's file. Tokens that the run renewed are brought back, and those that others renewed meanwhile are brought to it:
 * a provider may let each be used for renewing only once.
 */
class RunLogin {
  readonly #path: string
  readonly #copy: string
  readonly #renews: readonly Renewal[]
  readonly #own: OwnThings
  /** The login when its tokens were last the same here and there. */
  #agreed: string
  #told = false

  constructor(path: string, copy: string, renews: readonly Renewal[], own: OwnThings) {
    this.#path = path
    this.#copy = copy
    this.#renews = renews
    this.#own = own
    this.#agreed = readFileSync(copy, 'utf8')
  }

  async look(): Promise<void> {
    const read = await readPlainFile(this.#copy, mostLoginBytes)
    // Whatever else it is by now is none that could be kept.
    if (!('bytes' in read)) return
    const left = read.bytes.toString('utf8')
    try {
      this.#exchange(left)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
      if (left !== this.#agreed && !this.#told) this.#tell(error as Error)
    }
  }

  /** In one go from reading to writing: other runs of this process do the same. */
  #exchange(left: string): void {
    const now = readFileSync(this.#path, 'utf8')
    if (left === now) return
    const renewed = renewedLogin({ found: this.#agreed, left, now }, this.#renews)
    if (renewed !== undefined) {
      replaceFile(this.#path, renewed)
      this.#agreed = left
      return
    }
    const others = renewedLogin({ found: this.#agreed, left: now, now: left }, this.#renews)
    if (others === undefined) return
    overwrite(this.#copy, others)
    this.#agreed = others
  }

  #tell({ message }: Error): void {
    this.#told = true
    this.#own.notice?.(`${this.#own.agent.program} has renewed its login, which cannot be kept in ${this.#path}: ${message}`)
  }
}

/** The same file, which the sandbox shows, and never an empty one. */
function overwrite(file: string, text: string): void {
  const opened = openSync(file, 'r+')
  try {
    writeSync(opened, text, 0)
    ftruncateSync(opened, Buffer.byteLength(text))
  } finally {
    closeSync(opened)
  }
}

/** Whole or not at all, with the owner and the rights that it had, in the place that a link leads to. */
function replaceFile(path: string, text: string): void {
  const file = realpathSync.native(path)
  const { mode, uid, gid } = statSync(file)
  const beside = `${file}.${process.pid}.assay`
  try {
    writeFileSync(beside, text, { mode: 0o600 })
    const own = statSync(beside)
    if (own.uid !== uid || own.gid !== gid) chownSync(beside, uid, gid)
    chmodSync(beside, mode & 0o777)
    renameSync(beside, file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}
