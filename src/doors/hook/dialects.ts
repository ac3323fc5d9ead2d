import { homedir } from 'node:os'
import { join } from 'node:path'
import { askedIn, hasWorked, type HookCall, record, textOf } from './call.ts'

/** How one coding agent speaks to its hooks and hears from them. Adding an agent is adding one of these. */
export interface Dialect {
  /** Variable in which the agent names the folder that the session is of, if it has one: `cwd` follows the agent around. */
  folderVariable?: string
  read(input: Record<string, unknown>): HookCall
  /** The agent may end. `message` is for the person, where the agent passes one on. */
  release(message: string | undefined): object
  /** The agent goes on, with this to do. */
  block(reason: string): object
  /** Where its settings are, and the entries that call the hook. */
  settings(folder: string, home: string): string
  entries(command: string): Entry[]
}

/** A list in the settings, by its path, and what Assay adds to it. */
export interface Entry {
  path: string[]
  value: object
  /** Fields that the file needs beside. */
  beside?: Record<string, unknown>
}

/** Seconds that an agent gives its hook; `hook.timeout` stays below. */
const limitSeconds = 600

const withMessage = (message: string | undefined): object => (message === undefined ? {} : { systemMessage: message })
const asHook = (command: string, timeout: number): object => ({ hooks: [{ type: 'command', command, timeout }] })

/** Events by name; what has a name and is not among them is none of our business. */
function eventNamed(name: string, stops: readonly string[]): HookCall['event'] {
  if (name === '') return 'unknown'
  return stops.includes(name) ? 'stop' : name === 'SessionStart' ? 'start' : 'other'
}

/** Only of a start: at the end of a turn an agent has worked. */
const lateness = (input: Record<string, unknown>): Pick<HookCall, 'late'> =>
  input.hook_event_name === 'SessionStart' && hasWorked(input.source, input.transcript_path) ? { late: true } : {}

/** Stop hooks of Claude Code and of those that took them over. A task that is completed says itself what it was. */
function readStop(input: Record<string, unknown>): HookCall {
  const task = [textOf(input.task_subject), textOf(input.task_description)].filter((text) => text !== '').join('\n\n')
  return {
    event: eventNamed(textOf(input.hook_event_name), ['Stop', 'SubagentStop', 'TaskCompleted']),
    session: textOf(input.session_id),
    cwd: textOf(input.cwd),
    asked: task || askedIn(input.transcript_path),
    said: textOf(input.last_assistant_message),
    busy: Array.isArray(input.background_tasks) && input.background_tasks.length > 0,
    ...lateness(input),
  }
}

const claude: Dialect = {
  folderVariable: 'CLAUDE_PROJECT_DIR',
  read: readStop,
  release: withMessage,
  block: (reason) => ({ decision: 'block', reason }),
  settings: (folder) => join(folder, '.claude', 'settings.json'),
  entries: (command) => [
    { path: ['hooks', 'Stop'], value: asHook(command, limitSeconds) },
    { path: ['hooks', 'SessionStart'], value: asHook(command, 60) },
  ],
}

const codex: Dialect = {
  read: readStop,
  release: withMessage,
  block: (reason) => ({ decision: 'block', reason }),
  settings: (folder) => join(folder, '.codex', 'hooks.json'),
  entries: (command) => [
    { path: ['hooks', 'Stop'], value: asHook(command, limitSeconds) },
    { path: ['hooks', 'SessionStart'], value: asHook(command, 60) },
  ],
}

const gemini: Dialect = {
  folderVariable: 'GEMINI_PROJECT_DIR',
  read: (input) => ({
    event: eventNamed(textOf(input.hook_event_name), ['AfterAgent']),
    session: textOf(input.session_id),
    cwd: textOf(input.cwd),
    asked: textOf(input.prompt),
    said: textOf(input.prompt_response),
    busy: false,
    ...lateness(input),
  }),
  release: withMessage,
  block: (reason) => ({ decision: 'deny', reason }),
  // Settings of a project count only in a folder that the agent trusts; the user's own always do.
  settings: (_folder, home) => join(home, '.gemini', 'settings.json'),
  entries: (command) => [
    { path: ['hooks', 'AfterAgent'], value: asHook(command, limitSeconds * 1000) },
    { path: ['hooks', 'SessionStart'], value: asHook(command, 60_000) },
  ],
}

const copilot: Dialect = {
  read: (input) => ({
    // Which of the two it was asked for tells that a prompt came along.
    event:
      /^sessionStart$/i.test(textOf(input.hookEventName) || textOf(input.hook_event_name)) || input.initialPrompt !== undefined
        ? 'start'
        : 'stop',
    session: textOf(input.sessionId) || textOf(input.session_id),
    cwd: textOf(input.cwd),
    asked: askedIn(input.transcriptPath ?? input.transcript_path),
    said: '',
    busy: false,
    ...(input.source === 'resume' && { late: true }),
  }),
  release: () => ({}),
  block: (reason) => ({ decision: 'block', reason }),
  settings: (folder) => join(folder, '.github', 'hooks', 'assay.json'),
  entries: (command) => [
    { path: ['hooks', 'agentStop'], value: { type: 'command', bash: command, timeoutSec: limitSeconds }, beside: { version: 1 } },
    { path: ['hooks', 'sessionStart'], value: { type: 'command', bash: command, timeoutSec: 60 } },
  ],
}

const cursor: Dialect = {
  read: (input) => {
    const roots = Array.isArray(input.workspace_roots) ? input.workspace_roots : []
    return {
      event: textOf(input.hook_event_name) === 'beforeSubmitPrompt' ? 'start' : 'stop',
      session: textOf(input.conversation_id),
      cwd: textOf(input.cwd) || textOf(roots[0]),
      asked: askedIn(input.transcript_path),
      said: '',
      // A turn that a person ended, or that broke, is nothing that the agent calls done.
      busy: textOf(input.status) !== '' && textOf(input.status) !== 'completed',
    }
  },
  release: () => ({}),
  block: (reason) => ({ followup_message: reason }),
  settings: (folder) => join(folder, '.cursor', 'hooks.json'),
  entries: (command) => [
    { path: ['hooks', 'stop'], value: { command }, beside: { version: 1 } },
    { path: ['hooks', 'beforeSubmitPrompt'], value: { command } },
  ],
}

export const dialects: Record<string, Dialect> = { claude, codex, gemini, copilot, cursor }

/** The folder of the person's settings. */
export const homeFolder = (env: NodeJS.ProcessEnv): string => env.HOME ?? homedir()

export function readCall(dialect: Dialect, text: string): HookCall | undefined {
  try {
    return dialect.read(record(JSON.parse(text)))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
