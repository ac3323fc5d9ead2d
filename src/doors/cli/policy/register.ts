import type { Command } from 'commander'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'

type Choose = (action: (output: Output) => Promise<ExitCode>) => void

/** What the owner stands behind. Commands are loaded when they run. */
export function addPolicy(program: Command, app: App, choose: Choose, tunable: (command: Command) => Command): void {
  const policy = program.command('policy').description('the policy in force: whether the owner stands behind it')
  tunable(policy.command('show'))
    .description('whether it is accepted, since when, and what differs from the last that was')
    .action((options) => choose(async (output) => (await import('./policy.ts')).policyShowCommand(app, output, options)))
  tunable(policy.command('accept'))
    .description("stand behind it, flags and variables included, with the owner's authority: what is decided under it may reach you")
    .option('--reason <text>', 'why')
    .action((options) => choose(async (output) => (await import('./policy.ts')).policyAcceptCommand(app, output, options)))
}
