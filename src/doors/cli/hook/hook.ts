import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'

/** `assay hook --agent x`: answers the agent's hook. One JSON object on standard output and exit code 0, whatever happens. */
export async function hookCommand(app: App, output: Output, { agent }: { agent: string }): Promise<ExitCode> {
  const input = await app.hookInput()
  const { env, cwd } = output.terminal
  output.data(await app.answerHook({ agent, input, cwd, env, say: (line) => output.note(line) }))
  return 0
}

/** The agent whose hook a command line was to answer, however wrong the rest of it is, named or not; undefined for every other command. */
export function hookedAgent([command, ...rest]: readonly string[]): string | undefined {
  if (command !== 'hook' || rest.includes('install') || rest.includes('remove')) return undefined
  const at = rest.findIndex((word) => word === '--agent' || word.startsWith('--agent='))
  const named = rest[at] === '--agent' ? rest[at + 1] : rest[at]?.slice('--agent='.length)
  return named === undefined || named === '' || named.startsWith('-') ? unnamed : named
}

/** Whoever calls the hook without a name is let go like the others. */
const unnamed = 'agent'

/** A hook that is called wrongly lets the agent go: agents take the exit code of bad usage for a block. */
export async function misusedHook(app: App, output: Output, agent: string, fault: string): Promise<ExitCode> {
  const { env, cwd } = output.terminal
  output.data(await app.answerHook({ agent, input: await app.hookInput(), cwd, env, fault, say: (line) => output.note(line) }))
  return 0
}

/** Where hooks are not built in, their settings cannot be changed either. */
const settingsOf = (app: App): NonNullable<App['hook']> => app.hook ?? (async () => ({ ok: false, error: 'hooks are not available here' }))

export interface HookSettingsFlags {
  agent: string
  yes?: boolean
  dryRun?: boolean
}

/** `assay hook install|remove`: shows the change of the agent's settings, then makes it. */
export async function hookSettingsCommand(app: App, output: Output, flags: HookSettingsFlags, remove: boolean): Promise<ExitCode> {
  const { agent } = flags
  const folder = output.terminal.cwd
  const shown = await settingsOf(app)({ agent, folder, remove, dryRun: true })
  if (!shown.ok) {
    output.note(`assay: ${shown.error}`)
    return 2
  }
  const lines = shown.value
  if (lines.length === 0) {
    if (output.json) output.jsonLine({ kind: 'hook', agent, changed: false })
    else output.data(remove ? `${agent}: there is no hook of Assay's` : `${agent}: the hook is there already`)
    return 0
  }
  if (!output.json) output.data(lines.join('\n'))
  if (flags.dryRun) {
    if (output.json) output.jsonLine({ kind: 'hook', agent, changed: false, change: lines })
    return 0
  }
  const agreed = flags.yes || (await app.ask(remove ? 'Take the hook out?' : 'Write this?', output.terminal))
  if (!agreed) {
    output.note(agreed === undefined ? 'assay: nobody is there to ask: --yes writes it' : 'Nothing was changed.')
    return agreed === undefined ? 2 : 0
  }
  const done = await settingsOf(app)({ agent, folder, remove, dryRun: false })
  if (!done.ok) {
    output.note(`assay: ${done.error}`)
    return 2
  }
  if (output.json) output.jsonLine({ kind: 'hook', agent, changed: true, change: lines })
  else output.data(remove ? `${agent}: the hook is gone` : `${agent}: the hook is in place. assay doctor tries it.`)
  return 0
}
