/** A word as a shell reads it: plain, or in single quotes. */
const word = String.raw`(?:[\w@%+=:,./-]+|'(?:[^']|'\\'')*')`
const form = new RegExp(`^(?:(${word}) )??(${word}) hook --agent ([a-z]+)$`)

/** The command that the hook of an agent is called by. `program` is words that a shell takes as they are. */
export const hookCommand = (program: string, agent: string): string => `${program} hook --agent ${agent}`

/** `assay` among the packages of the project. */
export const ofProject = 'npx --no-install assay'

/** One word for a shell, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Whether a command is one that `assay hook install` writes for this agent, to the letter: `assay`, the project's own or an absolute program, and
 * nothing before, after or between. Everything else is somebody's own, also where it calls the hook.
 */
export function isOwnCommand(text: unknown, agent: string): boolean {
  if (typeof text !== 'string') return false
  if (text === hookCommand('assay', agent) || text === hookCommand(ofProject, agent)) return true
  const [, runner, program = '', named] = form.exec(text) ?? []
  if (named !== agent || !/^\/(.*\/)?assay(\.mjs)?$/s.test(unquoted(program))) return false
  return runner === undefined || /^\/(.*\/)?node$/s.test(unquoted(runner))
}

const unquoted = (text: string): string => (text.startsWith("'") ? text.slice(1, -1).replaceAll(String.raw`'\''`, "'") : text)
