import type { Usage } from '../../../contract/verdict.ts'
import type { Renewal } from './renewal.ts'

/** What an invocation is made for. */
export interface Ask {
  /** Model name as the agent knows it. */
  model: string | undefined
  /** US dollars, for agents that take a budget. What one says that it has cost is looked at when it is done, too. */
  budgetUsd: number | undefined
  /** Whether Assay's own sandbox is around the agent. */
  sandboxed: boolean
  /** Private folder of this run. */
  folder: string
}

export interface JudgeAsk extends Ask {
  /** Folder of the work under review. */
  snapshot: string
  /** JSON Schema of a verdict: its text, and a file that holds it. */
  schema: string
  schemaFile: string
  /** Providers that hold a model to a schema take this one. */
  strict: boolean
}

/** How an agent is started. The prompt always goes in by standard input, which then ends. */
export interface Invocation {
  args: string[]
  env?: Record<string, string>
  /** Runs in its private folder instead of the work, because it would obey what it finds there. */
  elsewhere?: boolean
}

/** What an agent printed. */
export interface Printed {
  stdout: string
  stderr: string
}

/** What an agent says of its own run. Whether it may be believed, the runner decides together with how the process ended. */
export type Report =
  /** `earlier`: what it said before its last message, which may be another answer. `finish`: why its last message ended, where it says so. */
  (
    | { kind: 'answered'; text: string; structured?: string; earlier?: string[]; finish?: string; usage: Usage }
    /** `exit`: the code that it means to exit with, which may be more than a process can say. */
    | { kind: 'failed'; detail: string; exit?: number; usage?: Usage }
  ) & {
    /** It is one that names its cost, and has named none that can be: nobody knows what it came to. */
    costUnknown?: boolean
  }

/**
 * A folder of an agent's own, with the names in it that a run sees where a sandbox is available. Everything else is empty at the start of a run and thrown
 * away at its end: no run leaves anything there that a later one would obey or load.
 */
export interface Kept {
  /** Below the home folder; a variable may name another place. */
  at: string
  variable?: string
  /** Files of its login, of which a run gets copies, and what of them comes back: only tokens that it renewed, nothing where none is named. */
  login?: Readonly<Record<string, readonly Renewal[]>>
  /** Its settings and its own programs: read by every run, changed by none. */
  settings?: readonly string[]
  /** What tells it how to work: read by workers, changed by none, and not there for judges. */
  instructs?: readonly string[]
  /** Files that it rewrites all the time: every run gets a copy. */
  copies?: readonly string[]
}

/** A command-line agent, as a table of its flags and formats. Adding one is adding a file like this. */
export interface KnownAgent {
  program: string
  /** How to install or update it, and how to log in. */
  install: string
  login: string
  /** Words with which it says that nobody is logged in. */
  loggedOut: RegExp
  /** How it says that it does not know a flag, where it says so in its own way. */
  flagUnknown?: RegExp
  /** Names of variables that it is given besides the harmless ones. */
  env: readonly string[]
  /** Those of them that name files or folders which it reads. */
  reads?: readonly string[]
  /** Folders that it keeps its own things in. */
  keeps: readonly Kept[]
  /** Files in the home folder itself of which every run gets a copy, thrown away with it. */
  copies?: readonly string[]
  /** What its exit codes mean, where they mean something. */
  exits?: Readonly<Record<number, string>>
  work(ask: Ask): Invocation
  judge(ask: JudgeAsk): Invocation
  read(printed: Printed): Report
}

/** Variables of proxies and certificates, which every agent may need to reach its provider. */
export const networkVariables = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
]

/** Those of them that name files. */
export const certificateVariables = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']
