import type { Digest } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { OpenNotifier } from '../../ports/notifier.ts'
import type { Project } from '../../engine/project.ts'

/** What the command line needs of the world; main.ts provides it. */
export interface App {
  version: string
  /** What is wrong with the project's parts outside its configuration file, found before anything starts. */
  problems(place: { folder: string; project: Project }): Promise<Problem[]>
  /** Opens `.assay/` in the project's folder, made if `create`; null where there is none. */
  open(place: { folder: string; project: Project; create: boolean }): Promise<Engine | null>
  openNotifier: OpenNotifier
  /** Whether whoever runs this command may speak for the owner. */
  authority(terminal: Terminal): Promise<Authority>
  /** Takes what is to be reviewed into the engine's store. */
  subject(request: SubjectRequest, engine: Engine): Promise<Result<Subject, Problem[]>>
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
