/** Agents that Assay can start, in the order in which one is chosen. */
export const agentNames = ['claude', 'codex', 'gemini', 'opencode'] as const
export type AgentName = (typeof agentNames)[number]

export const templateNames = ['code', 'landing-page', 'document', 'api'] as const
export type TemplateName = (typeof templateNames)[number]

/** What is found in a folder and on the machine around it. Nothing is asked and nothing is changed to find it. */
export interface Survey {
  /** Agents found in PATH. */
  agents: AgentName[]
  /** Names of variables that hold a model provider's key; their values are never read further. */
  keys: string[]
  /** `empty`: a repository without a commit, which no worktree can start from. */
  git: 'none' | 'empty' | 'ready'
  /** How the project is built and tested, where its files say so. */
  build?: Build
  /** A file that describes an API. */
  apiDescription?: string
  /** HTML pages where a site has its first one. */
  pages: string[]
  /** Texts in the folder itself that are neither code nor a project's usual papers. */
  documents: string[]
  /** Whether a Chromium is installed. */
  chrome: boolean
}

export interface Build {
  /** `npm`, `pnpm`, `yarn`, `bun`, `cargo`, `go`, `make`. */
  tool: string
  /** The file that says so. */
  file: string
  /** Program and arguments that run the tests. */
  test?: string[]
  /** The tests need packages that are installed in the folder. */
  installs: boolean
  /** It depends on a library that answers HTTP requests. */
  serves?: string
}
