import type { Digest } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { OpenNotifier } from '../../ports/notifier.ts'
import type { Project } from '../../engine/project.ts'
import type { Keeping } from '../../engine/keep/keeping.ts'
import type { DiagnoseRequest, Finding } from './doctor/finding.ts'
import type { Survey } from './init/survey.ts'

/** What the command line needs of the world; main.ts provides it. */
export interface App {
  version: string
  /** What is wrong with the project's parts outside its configuration file, found before anything starts. */
  problems(place: { folder: string; project: Project }): Promise<Problem[]>
  /** Opens `.assay/` in the project's folder, made if `create`; null where there is none. */
  open(place: { folder: string; project: Project; create: boolean; serves?: boolean }): Promise<Engine | null>
  openNotifier: OpenNotifier
  /** Whether whoever runs this command may speak for the owner. */
  authority(terminal: Terminal): Promise<Authority>
  /** What proving, signing, clearing away and copying need. */
  keeping(terminal: Pick<Terminal, 'env'>): Promise<Keeping>
  /** Takes what is to be reviewed into the engine's store. */
  subject(request: SubjectRequest, engine: Engine): Promise<Result<Subject, Problem[]>>
  /** Digest of what lies at the source of a deliverable now; undefined where that cannot be told. */
  digestNow(source: string, engine: Engine): Promise<string | undefined>
  /** Opens the HTTP door and works on every open mission until the stop. */
  serve(request: ServeRequest, engine: Engine): Promise<Result<Serving, Problem[]>>
  /** The token with which an agent outside gives verdicts; the door has checked the owner's authority. */
  reviewerToken(agent: string, terminal: Terminal): Promise<string>
  /** Serves one agent over standard input and output until its client has gone or the stop is heard; opens the engine meanwhile, and closes it. */
  mcp(request: McpRequest, open: () => Promise<Engine>, authority: () => Promise<Authority>): Promise<void>
  /** What is in the folder and on the machine, for `init`. */
  survey(terminal: Terminal): Promise<Survey>
  /** Asks a person yes or no; undefined where none is there. */
  ask(question: string, terminal: Terminal): Promise<boolean | undefined>
  /** Looks at everything that a run leans on. */
  diagnose(request: DiagnoseRequest): AsyncIterable<Finding>
  /** Puts the hook into an agent's settings or takes it out; says what it changed or, in a dry run, would change. */
  hook?(request: HookRequest): Promise<Result<string[], string>>
  /** What a coding agent wrote to its hook. */
  hookInput(): Promise<string>
  /** Answers a coding agent's hook with the object that the agent reads, as text. */
  answerHook(question: HookQuestion): Promise<string>
}

export interface HookQuestion {
  agent: string
  /** What the agent wrote to standard input. */
  input: string
  cwd: string
  env: NodeJS.ProcessEnv
  /** Why it cannot be answered by a review: the command itself was wrong. */
  fault?: string
  say(line: string): void
}

export interface ServeRequest {
  folder: string
  project: Project
  version: string
  host: string
  /** 0 takes a free one. */
  port: number
  /** Further names by which the server may be addressed. */
  allowHosts: readonly string[]
  /** Agents whose tokens are made. */
  workers: readonly string[]
  /** `NAME=agent`: the agent's token stands in this environment variable. */
  workerTokenEnv: readonly string[]
  env: NodeJS.ProcessEnv
  log(line: string): void
  stop: AbortSignal
}

export interface McpRequest {
  role: 'worker' | 'reviewer' | 'owner'
  /** In whose name. */
  agent: string
  folder: string
  version: string
  log(line: string): void
  stop: AbortSignal
}

/** Where an agent's token is found: in a file that was made, or, where it may judge, by a command of the owner's. */
export type GivenToken = { agent: string; file: string } | { agent: string; printedBy: string }

export interface Serving {
  url: string
  port: number
  workers: GivenToken[]
  /** Resolves once everything has ended after the stop; rejects when the store failed. */
  ended: Promise<void>
}

export interface HookRequest {
  agent: string
  /** The project's folder. */
  folder: string
  remove: boolean
  dryRun: boolean
  /** Leaves settings alone that hold for other projects, too. */
  onlyOfProject?: boolean
}

/** `token` is the digest of the token that was shown: it must be the one that the journal knows. */
export type Authority = { ok: true; by: string; token: string } | { ok: false; message: string }

export interface SubjectRequest {
  cwd: string
  /** Where `.assay/` lives. */
  home: string
  /** A path, an address, or `-` for standard input. */
  what: string
  /** `base..head` of the repository at `cwd`, instead of `what`. */
  diff: string | undefined
  stdin: Uint8Array | undefined
  allowPrivate: boolean
}

export interface Subject {
  kind: 'file' | 'folder' | 'diff' | 'url' | 'text'
  name: string
  snapshot: Digest
  base: Digest
  /** Identity of the bytes under review. */
  digest: Digest
  /** Where it was taken from, if that can be looked at again: a whole path, or an address. */
  source?: string
}

/** Where a command reads and writes; the process's own streams but for tests. */
export interface Terminal {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  env: NodeJS.ProcessEnv
  cwd: string
}

/** 0 accepted clean, 1 below the bar or failed, 2 bad usage or configuration, 3 inconclusive or waiting for a person, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130
