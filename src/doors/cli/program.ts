import { Argument, Command, CommanderError, Option } from 'commander'
import type { App, ExitCode, Terminal } from './app.ts'
import { addAuditing } from './audit/register.ts'
import { addHandingOver } from './commands/deliverable/register.ts'
import { hookedAgents } from './hook/agents.ts'
import { templateNames } from './init/survey.ts'
import { oneLine, Output } from './output.ts'
import { addPolicy } from './policy/register.ts'

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
    outputError: (text) => new Output(terminal, false).note(text.trim()),
    getOutHelpWidth: () => terminal.stdout.columns ?? 80,
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    const { hookedAgent, misusedHook } = await import('./hook/hook.ts')
    const agent = hookedAgent(argv)
    return agent === undefined ? 2 : runAction((output) => misusedHook(app, output, agent, error.message), new Output(terminal, false))
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
      name === 'KeyFault' ||
      (code !== undefined && /^E[A-Z]+$/.test(code))
    const full =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'The disk is full. Free some space; nothing was lost, and work goes on once there is room: '
        : ''
    if (expected) output.note(`assay: ${full}${oneLine(message, 2000)}`)
    else output.page(`assay: an error that should not happen\n${(error as Error).stack ?? String(error)}`)
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
  addHandingOver(program, app, choose, configured)
  addOwner(program, app, choose)
  addPolicy(program, app, choose, tunable)
  addConfiguration(program, app, choose)
  addSettingUp(program, app, choose)
  addHook(program, app, choose)
  addServing(program, app, choose)
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
    .option('--accept-policy', "let a changed configuration take over, with the owner's authority")
    .action((mission, options) =>
      choose(async (output) => (await import('./commands/run.ts')).resumeCommand(app, output, mission, options)),
    )
  tunable(program.command('review'))
    .description('judge one thing as it is: a file, a folder, an address, standard input (-) or a diff')
    .argument('[subject]', 'file, folder, http(s) address, or -')
    .option('--diff <range>', 'what changed in the git repository here: base..head, or base for base..HEAD')
    .option('--criteria <text or file>', 'an acceptance criterion, or a file of them; repeatable', gather)
    .option('--task <text>', 'what the work was meant to be')
    .option('--deliverable <id>', 'review it as a deliverable of this id, which may be sent to the owner once it passes')
    .option('--producer <name>', 'who made the deliverable (default: whoever brought it before, or author)')
    .option('--title <text>', 'title of the deliverable')
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
  configured(program.command('why'))
    .description('why a task is done, or is not; why a deliverable is in the inbox, or is not; and what to do next')
    .argument('<task|deliverable>', 'id of the task, or the end of it; or of a deliverable (task:<id>, deliverable:<id>)')
    .action((id, options) => choose(async (output) => (await import('./why/why.ts')).whyCommand(app, output, id, options)))
  configured(program.command('ledger'))
    .description('the decision history of a task, as both sides see it')
    .argument('<task>', 'id of the task, or the end of it')
    .action((id, options) => choose(async (output) => (await import('./commands/task.ts')).ledgerCommand(app, output, id, options)))
  configured(program.command('metrics'))
    .description('figures of missions, workers, judges and tasks')
    .option('--mission <id>', 'of one mission')
    .option('--agent <name>', 'of one agent')
    .action((options) => choose(async (output) => (await import('./commands/metrics.ts')).metricsCommand(app, output, options)))
  addAuditing(program, app, choose, configured)
}

function addMissions(program: Command, app: App, choose: Choose): void {
  const mission = program.command('mission').description('missions: list, show, add, retry, waive, stop')
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
  configured(mission.command('add'))
    .description("add the tasks of a file that the run does not have yet, with the owner's authority")
    .argument('<mission>', 'id of the run')
    .argument('<file>', 'mission file with the new tasks')
    .action((id, file, options) =>
      choose(async (output) => (await import('./commands/mission.ts')).missionAddCommand(app, output, id, file, options)),
    )
  configured(mission.command('waive'))
    .description("let a missed quality threshold pass, with the owner's authority")
    .argument('<mission>', 'id of the run')
    .requiredOption('--reason <text>', 'why')
    .action((id, options) =>
      choose(async (output) => (await import('./commands/mission.ts')).missionWaiveCommand(app, output, id, options)),
    )
  configured(mission.command('stop'))
    .description("fail whatever is not finished, answer its gates and finish it, with the owner's authority")
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
    .command('list')
    .description('the same')
    .action((_options, command: Command) =>
      choose(async (output) => (await import('./commands/requests.ts')).requestsCommand(app, output, command.optsWithGlobals())),
    )
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
    .argument('<task|deliverable>', 'id of the task, or the end of it; or of a deliverable (task:<id>, deliverable:<id>)')
    .argument('<outcome>', 'pass or fail')
    .requiredOption('--reason <text>', 'why')
    .option('--digest <start>', 'only where the work in question is these bytes: the beginning of their digest')
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

const agentOption = (what: string): Option => new Option('--agent <name>', what).choices(hookedAgents)

const requireAgent = (command: Command): void => {
  if (command.optsWithGlobals().agent === undefined) command.error(`error: name the agent: --agent ${hookedAgents.join('|')}`)
}

/** Standing between an agent's "done" and its person. */
function addHook(program: Command, app: App, choose: Choose): void {
  const hook = program
    .command('hook')
    .description('answer a coding agent\'s stop hook: blocks its "done" with feedback until the review passes')
    .addOption(agentOption('whose dialect is spoken'))
    .action((options, command: Command) => {
      requireAgent(command)
      choose(async (output) => (await import('./hook/hook.ts')).hookCommand(app, output, options))
    })
  for (const [name, what, remove] of [
    ['install', "put the hook into an agent's settings, after showing the change", false],
    ['remove', "take the hook out of an agent's settings", true],
  ] as const) {
    hook
      .command(name)
      .description(what)
      .addOption(agentOption('whose settings'))
      .option('--yes', 'without asking')
      .option('--dry-run', 'only show the change')
      .option('--json', 'data as JSON, one object a line')
      .action((_options, command: Command) => {
        requireAgent(command)
        choose(async (output) => (await import('./hook/hook.ts')).hookSettingsCommand(app, output, command.optsWithGlobals(), remove))
      })
  }
}

/** What a user needs before and around the first run. */
function addSettingUp(program: Command, app: App, choose: Choose): void {
  program
    .command('init')
    .description('write a configuration and a first mission for this folder, after showing them')
    .addOption(new Option('--template <name>', 'what the work is; without it, what fits the folder').choices(templateNames))
    .addOption(new Option('--hook <agent...>', 'also let these agents ask before they say done').choices(hookedAgents))
    .option('--model <name>', 'model that judges, where a key is found')
    .option('--yes', 'write without asking')
    .option('--dry-run', 'only show what would be written')
    .option('--remove', 'take out what init wrote and nobody changed since')
    .option('--json', 'data as JSON, one object a line')
    .action((options) => choose(async (output) => (await import('./init/init.ts')).initCommand(app, output, options)))
  configured(program.command('doctor'))
    .description('look at everything that a run leans on, and say what mends what is wrong')
    .option('--ping', 'ask every judge one small question for real')
    .option('--rebuild', 'fold the views from the journal anew; rows that differed are an error')
    .action((options) => choose(async (output) => (await import('./doctor/doctor.ts')).doctorCommand(app, output, options)))
  program
    .command('completion')
    .description('the script with which a shell completes commands, options and ids')
    .addArgument(new Argument('<shell>', 'for which shell').choices(['bash', 'zsh', 'fish']))
    .action((shell) => choose(async (output) => (await import('./completion/completion.ts')).completionCommand(output, shell)))
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .action((words: string[]) =>
      choose(async (output) => (await import('./completion/completion.ts')).candidatesCommand(app, output, program, words)),
    )
}

/** Doors that stay open. */
function addServing(program: Command, app: App, choose: Choose): void {
  tunable(program.command('serve'))
    .description('the HTTP API and the live stream, and the work on every open mission, until stopped')
    .option('--port <n>', 'port; 0 takes a free one', '7410')
    .option('--host <name>', 'address to listen on', '127.0.0.1')
    .option('--allow-host <name>', 'a further name by which it may be addressed; repeatable', gather)
    .option(
      '--worker <agent>',
      "let this agent in; a worker's token is made in .assay/tokens, a reviewer's the owner prints; repeatable",
      gather,
    )
    .option('--worker-token-env <NAME=agent>', "environment variable that holds an agent's token; repeatable", gather)
    .action((options) => choose(async (output) => (await import('./commands/serving/serve.ts')).serveCommand(app, output, options)))
  tunable(program.command('mcp'))
    .description('serve one agent over standard input and output, by the Model Context Protocol')
    .addOption(new Option('--role <role>', 'whose tools').choices(['worker', 'reviewer', 'owner']).makeOptionMandatory())
    .option('--agent <name>', 'which agent; without it, the only one of that role whose brain is outside')
    .option('--print-token', "print the token with which a reviewer's server gives verdicts, with the owner's authority")
    .action((options) => choose(async (output) => (await import('./commands/mcp.ts')).mcpCommand(app, output, options)))
}
