import { Command, CommanderError } from 'commander'
import type { App, ExitCode, Terminal } from './app.ts'
import { oneLine, Output } from './output.ts'

type Action = (output: Output) => Promise<ExitCode>

/** The whole command line. Commands are loaded when they run. Resolves with the exit code. */
export async function runCli(argv: readonly string[], app: App, terminal: Terminal): Promise<number> {
  let action: Action | undefined
  const program = buildProgram(app, (chosen) => {
    action = chosen
  })
  program.configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
    getOutHelpWidth: () => terminal.stdout.columns ?? 80,
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
  if (!action) {
    program.outputHelp()
    return argv.length === 0 ? 0 : 2
  }
  return runAction(action, new Output(terminal, argv.includes('--json')))
}

/** A store or a disk that fails is said in a line, never as a stack; only a bug shows one. */
async function runAction(action: Action, output: Output): Promise<number> {
  try {
    return await action(output)
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string }
    const expected =
      name === 'JournalFault' ||
      name === 'UnknownEvent' ||
      name === 'SnapshotFault' ||
      name === 'StoreFault' ||
      name === 'WorkspaceFault' ||
      (code !== undefined && /^E[A-Z]+$/.test(code))
    const full =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'The disk is full. Free some space; nothing was lost, and work goes on once there is room: '
        : ''
    output.note(
      expected
        ? `assay: ${full}${oneLine(message, 2000)}`
        : `assay: an error that should not happen\n${(error as Error).stack ?? String(error)}`,
    )
    return 3
  }
}

type Choose = (action: Action) => void

/** Options of every command that reads a project. */
const configured = (command: Command): Command =>
  command
    .option('-c, --config <file>', 'configuration file (default: assay.yaml here or in a folder above)')
    .option('--json', 'data as JSON, one object a line')

/** Options that set knobs of the configuration. */
const tunable = (command: Command): Command =>
  configured(command)
    .option('--no-eval', 'no review: work ships unreviewed and is flagged so; checks still run')
    .option('--eval-threshold <score>', 'the bar, 0–100 (or 1–5)')
    .option('--max-attempts <n>', 'executions of a task before its honest end')
    .option('--fail-open', 'accept, as unreviewed, what no judge gave a readable verdict on')

function buildProgram(app: App, choose: Choose): Command {
  const program = new Command('assay')
    .description('The independent quality gate for AI agents’ work.')
    .version(app.version)
    .exitOverride()
    .showHelpAfterError('(assay --help lists the commands)')
  addRunning(program, app, choose)
  addLooking(program, app, choose)
  addConfiguration(program, app, choose)
  return program
}

function addRunning(program: Command, app: App, choose: Choose): void {
  program
    .command('demo')
    .description('a small mission that shows everything: no key, no network, a few seconds')
    .argument('[folder]', 'where to put it (default: assay-demo)')
    .option('--json', 'data as JSON, one object a line')
    .action((folder) => choose(async (output) => (await import('./commands/demo.ts')).demoCommand(app, output, folder)))
  tunable(program.command('run'))
    .description('run a mission file')
    .argument('<mission>', 'mission file, YAML or JSON')
    .option('--fresh', 'start another run although one is not finished')
    .action((mission, options) => choose(async (output) => (await import('./commands/run.ts')).runCommand(app, output, mission, options)))
  tunable(program.command('resume'))
    .description('go on with missions that are not finished')
    .argument('[mission]', 'one of them; all without it')
    .action((mission, options) =>
      choose(async (output) => (await import('./commands/run.ts')).resumeCommand(app, output, mission, options)),
    )
  configured(program.command('reset'))
    .description('put .assay/ away under a dated name; with a task, make both sides forget its ledger')
    .argument('[task]', 'id of the task, or the end of it')
    .option('--reason <text>', 'why')
    .action((id, options) => choose(async (output) => (await import('./commands/reset.ts')).resetCommand(app, output, id, options)))
}

function addLooking(program: Command, app: App, choose: Choose): void {
  const task = program.command('task').description('tasks and their state')
  configured(task.command('list'))
    .description('every task')
    .option('--mission <id>', 'of one mission')
    .action((options) => choose(async (output) => (await import('./commands/task.ts')).taskListCommand(app, output, options)))
  configured(task.command('show'))
    .description('one task: state, criteria, case, judges')
    .argument('<task>', 'id of the task, or the end of it')
    .action((id, options) => choose(async (output) => (await import('./commands/task.ts')).taskShowCommand(app, output, id, options)))
  configured(program.command('ledger'))
    .description('the decision history of a task, as both sides see it')
    .argument('<task>', 'id of the task, or the end of it')
    .action((id, options) => choose(async (output) => (await import('./commands/task.ts')).ledgerCommand(app, output, id, options)))
  const audit = configured(program.command('audit'))
    .description('every verdict, force-accept, unreadable verdict and decision')
    .option('--task <id>', 'of one task')
    .option('--kind <event>', 'of one kind of event, e.g. verdict.recorded')
    .option('--all', 'every event, machinery too')
    .option('--follow', 'go on as events come')
    .action((options) => choose(async (output) => (await import('./commands/audit.ts')).auditCommand(app, output, options)))
  audit
    .command('verify')
    .description('prove every hash chain; says where one breaks')
    .action((_options, command: Command) =>
      choose(async (output) => (await import('./commands/audit.ts')).verifyCommand(app, output, command.optsWithGlobals())),
    )
}

function addConfiguration(program: Command, app: App, choose: Choose): void {
  const config = tunable(program.command('config'))
    .description('the configuration in force')
    .option('--explain', 'every knob: default, current value and where it comes from, names, meaning')
    .action((options) => choose(async (output) => (await import('./commands/config.ts')).configCommand(output, options)))
  config
    .command('schema')
    .description('JSON Schema for editors')
    .argument('[what]', 'config or mission', 'config')
    .action((what) => choose(async (output) => (await import('./commands/config.ts')).schemaCommand(output, what)))
  config
    .command('validate')
    .description('check the configuration, and mission files')
    .argument('[missions...]')
    .action((missions, _options, command: Command) =>
      choose(async (output) => (await import('./commands/config.ts')).validateCommand(app, output, missions, command.optsWithGlobals())),
    )
}
