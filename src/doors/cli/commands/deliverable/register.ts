import { type Command, Option } from 'commander'
import type { CardPriority } from '../../../../contract/deliverable/deliverable.ts'
import type { App, ExitCode } from '../../app.ts'
import type { Output } from '../../output.ts'

type Choose = (action: (output: Output) => Promise<ExitCode>) => void
type Configured = (command: Command) => Command

/** Written out, because a schema is slow to load for a help text. */
const priorities: CardPriority[] = ['low', 'normal', 'high', 'urgent']

/** What stands between finished work and its owner. Commands are loaded when they run. */
export function addHandingOver(program: Command, app: App, choose: Choose, configured: Configured): void {
  addDeliverables(program, app, choose, configured)
  addInbox(program, app, choose, configured)
  configured(program.command('bypass'))
    .description("waive the review of a deliverable, with the owner's authority: its card stays marked UNREVIEWED")
    .argument('<deliverable>', 'id of the deliverable')
    .requiredOption('--reason <text>', 'why')
    .option('--digest <start>', 'only where the latest version is these bytes: the beginning of their digest')
    .action((id, options) => choose(async (output) => (await import('./bypass.ts')).bypassCommand(app, output, id, options)))
}

function addDeliverables(program: Command, app: App, choose: Choose, configured: Configured): void {
  const deliverable = program.command('deliverable').description('finished things: list, show, send to the owner')
  addFreeing(deliverable, app, choose, configured)
  configured(deliverable.command('list'))
    .description('the latest version of each, newest first')
    .option('--producer <name>', 'of one producer')
    .option('--limit <n>', 'at most so many (default: 100)')
    .action((options) => choose(async (output) => (await import('./deliverable.ts')).deliverablesCommand(app, output, options)))
  configured(deliverable.command('show'))
    .description('one: its review, what the gate would say, its cards')
    .argument('<id>', 'id of the deliverable')
    .action((id, options) => choose(async (output) => (await import('./deliverable.ts')).deliverableCommand(app, output, id, options)))
  configured(deliverable.command('send'))
    .description('send its card to the owner: through the gate, which needs a PASS for exactly these bytes')
    .argument('<id>', 'id of the deliverable')
    .option('--producer <name>', 'who sends it (default: whoever brought it)')
    .option('--title <text>', 'what you call it: kept as a note that nobody reviewed')
    .option('--body <text>', 'what you say of it: a note that nobody reviewed')
    .addOption(new Option('--priority <name>', 'how urgent it is').choices(priorities))
    .action((id, options) => choose(async (output) => (await import('./deliverable.ts')).sendCommand(app, output, id, options)))
}

/** An id is its first producer's: what somebody else needs it for waits for the owner. */
function addFreeing(deliverable: Command, app: App, choose: Choose, configured: Configured): void {
  configured(deliverable.command('free'))
    .description("take an id away from whoever has it, with the owner's authority")
    .argument('<id>', 'id of the deliverable')
    .requiredOption('--reason <text>', 'why')
    .action((id, options) => choose(async (output) => (await import('./bypass.ts')).freeCommand(app, output, id, options)))
}

function addInbox(program: Command, app: App, choose: Choose, configured: Configured): void {
  const inbox = configured(program.command('inbox'))
    .description('what reached the owner; without --state, what is still open')
    .option('--state <name>', 'pending, handled, dismissed, expired or all')
    .option('--type <name>', 'report_ready, milestone, trace, operator_request, error_alert')
    .option('--flag <name>', 'pass, owner-accepted, below-threshold, unreviewed, bypassed')
    .option('--search <text>', 'in titles, texts, ids and names')
    .option('--mission <id>', 'of one mission')
    .action((options) => choose(async (output) => (await import('./inbox.ts')).inboxCommand(app, output, options)))
  inbox
    .command('show')
    .description('one card')
    .argument('<card>', 'its name, the beginning of it, or the deliverable or task that it is about')
    .action((card, _options, command: Command) =>
      choose(async (output) => (await import('./inbox.ts')).cardCommand(app, output, card, command.optsWithGlobals())),
    )
  for (const [name, state, what] of [
    ['handle', 'handled', 'say that a card is dealt with'],
    ['dismiss', 'dismissed', 'say that a card is not wanted'],
  ] as const)
    inbox
      .command(name)
      .description(`${what}, with the owner's authority`)
      .argument('<card>', 'its name, or the beginning of it')
      .option('--reason <text>', 'why')
      .action((card, _options, command: Command) =>
        choose(async (output) => (await import('./close.ts')).closeCommand(app, output, card, state, command.optsWithGlobals())),
      )
  inbox
    .command('export')
    .description('write what a card hands over: the reviewed bytes, held against their digest')
    .argument('<card>', 'its name, or the beginning of it')
    .requiredOption('--out <folder>', 'a new or empty folder')
    .action((card, _options, command: Command) =>
      choose(async (output) => (await import('./close.ts')).exportCommand(app, output, card, command.optsWithGlobals())),
    )
}
