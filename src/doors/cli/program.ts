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

const gather = (value: string, before: string[] = []): string[] => [...before, value]

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
    .option('--max-cost <dollars>', 'most that judging a task or mission may cost')
    .option('--fail-open', 'accept, as unreviewed, what no judge gave a readable verdict on')

function buildProgram(app: App, choose: Choose): Command {
  const program = new Command('assay')
    .description('The independent quality gate for AI agents’ work.')
    .version(app.version)
    .exitOverride()
    .showHelpAfterError('(assay --help lists the commands)')
  addRunning(program, app, choose)
  addLooking(program, app, choose)
  addMissions(program, app, choose)
  addOwner(program, app, choose)
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
  tunable(program.command('review'))
    .description('judge one thing as it is: a file, a folder, an address, standard input (-) or a diff')
    .argument('[subject]', 'file, folder, http(s) address, or -')
    .option('--diff <range>', 'what changed in the git repository here: base..head, or base for base..HEAD')
    .option('--criteria <text or file>', 'an acceptance criterion, or a file of them; repeatable', gather)
    .option('--task <text>', 'what the work was meant to be')
    .option('--format <name[=file]>', 'pretty, minimal, json, junit, sarif, github, markdown; repeatable, to a file with =', gather)
    .option('--provider <name>', 'judge with this provider: anthropic, openai, google, openai-compatible')
    .option('--model <name>', 'and this model')
    .option('--base-url <url>', 'address of an openai-compatible server')
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--allow-private', 'let the address be a private one')
    .action((subject, options) =>
      choose(async (output) => (await import('./commands/review.ts')).reviewCommand(app, output, subject, options)),
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
  configured(program.command('metrics'))
    .description('figures of missions, workers, judges and tasks')
    .option('--mission <id>', 'of one mission')
    .option('--agent <name>', 'of one agent')
    .action((options) => choose(async (output) => (await import('./commands/metrics.ts')).metricsCommand(app, output, options)))
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

function addMissions(program: Command, app: App, choose: Choose): void {
  const mission = program.command('mission').description('missions: list, show, retry, stop')
  configured(mission.command('list'))
    .description('every run of every mission')
    .action((options) => choose(async (output) => (await import('./commands/mission.ts')).missionListCommand(app, output, options)))
  configured(mission.command('show'))
    .description('one run: its tasks and gates')
    .argument('<mission>', 'id of the run')
    .action((id, options) => choose(async (output) => (await import('./commands/mission.ts')).missionShowCommand(app, output, id, options)))
  configured(mission.command('retry'))
    .description("open failed and skipped tasks again, with the owner's authority")
    .argument('<mission>', 'id of the run')
    .option('--reason <text>', 'why')
    .action((id, options) =>
      choose(async (output) => (await import('./commands/mission.ts')).missionRetryCommand(app, output, id, options)),
    )
  configured(mission.command('stop'))
    .description("fail whatever is not finished, with the owner's authority")
    .argument('<mission>', 'id of the run')
    .requiredOption('--reason <text>', 'why')
    .action((id, options) => choose(async (output) => (await import('./commands/mission.ts')).missionStopCommand(app, output, id, options)))
}

/** What the owner alone may say. */
function addOwner(program: Command, app: App, choose: Choose): void {
  const requests = configured(program.command('requests'))
    .description('what waits for a person')
    .action((options) => choose(async (output) => (await import('./commands/requests.ts')).requestsCommand(app, output, options)))
  requests
    .command('answer')
    .description("answer one, with the owner's authority: retry, accept, fail, waive, stop, acknowledge")
    .argument('<request>', 'name of the request, or the end of it')
    .argument('<answer>', 'one of the answers that it takes')
    .option('--reason <text>', 'why; needed for accept, fail, waive and stop')
    .action((request, answer, _options, command: Command) =>
      choose(async (output) =>
        (await import('./commands/requests.ts')).answerCommand(app, output, request, answer, command.optsWithGlobals()),
      ),
    )
  configured(program.command('overrule'))
    .description("turn a decision, with the owner's authority")
    .argument('<task>', 'id of the task, or the end of it')
    .argument('<outcome>', 'pass or fail')
    .requiredOption('--reason <text>', 'why')
    .action((task, outcome, options) =>
      choose(async (output) => (await import('./commands/requests.ts')).overruleCommand(app, output, task, outcome, options)),
    )
}

function addConfiguration(program: Command, app: App, choose: Choose): void {
  configured(program.command('notify').description('notifications').command('test'))
    .description('send a test message on a channel and say what happened')
    .argument('<channel>')
    .action((channel, options) =>
      choose(async (output) => (await import('./commands/notify.ts')).notifyTestCommand(app, output, channel, options)),
    )
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
