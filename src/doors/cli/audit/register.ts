import type { Command } from 'commander'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'

type Choose = (action: (output: Output) => Promise<ExitCode>) => void
type Configured = (command: Command) => Command

const withCheckpoint = (command: Command): Command =>
  command
    .option('--checkpoint <file>', 'hold the journal against a checkpoint kept elsewhere')
    .option('--key <file>', 'public key to check the checkpoint with (default: your own)')

/** Looking back and proving. Commands are loaded when they run. */
export function addAuditing(program: Command, app: App, choose: Choose, configured: Configured): void {
  const audit = configured(program.command('audit'))
    .description('every verdict, bypass, force-accept, unreadable verdict, refusal and overrule')
    .option('--task <id>', 'of one task')
    .option('--deliverable <id>', 'of one deliverable')
    .option('--agent <name>', 'in which one agent or person had a part')
    .option('--kind <kind>', 'one kind: verdict, bypass, overrule, refusal …, or an event such as verdict.recorded')
    .option('--since <time>', 'not before: a date, a time, or how long ago (24h, 7d)')
    .option('--until <time>', 'not after')
    .option('--format <name>', 'table, jsonl or csv')
    .option('--all', 'every event, machinery too')
    .option('--follow', 'go on as events come')
    .action((options) => choose(async (output) => (await import('./list.ts')).auditCommand(app, output, options)))
  withCheckpoint(audit.command('verify'))
    .description('prove every chain, view and object; says what is broken and where')
    .action((_options, command: Command) =>
      choose(async (output) => (await import('./verify.ts')).verifyCommand(app, output, command.optsWithGlobals())),
    )
  audit
    .command('checkpoint')
    .description('a signed head over all chains, to be kept elsewhere')
    .option('--out <file>', 'write it there')
    .action((_options, command: Command) =>
      choose(async (output) => (await import('./checkpoint.ts')).checkpointCommand(app, output, command.optsWithGlobals())),
    )
  audit
    .command('key')
    .description('the public key that checkpoints and attestations are signed with')
    .action(() => choose(async (output) => (await import('./checkpoint.ts')).keyCommand(app, output)))
  addAttesting(program, app, choose, configured)
  addKeeping(program, app, choose, configured)
}

function addAttesting(program: Command, app: App, choose: Choose, configured: Configured): void {
  configured(program.command('attest'))
    .description('sign what was decided, as an in-toto statement (DSSE)')
    .argument('<task|deliverable>', 'id of a deliverable, or of a task, or the end of it (task:<id>, deliverable:<id>)')
    .option('--out <file>', 'write it there')
    .action((id, options) => choose(async (output) => (await import('../attest/attest.ts')).attestCommand(app, output, id, options)))
  program
    .command('verify')
    .description('check an attestation with a public key alone; 0 only for PASSED')
    .argument('<file>', 'the attestation')
    .option('--subject <path>', 'a file, or a folder with everything in it, that it must be about')
    .option('--key <file>', 'public key to check with (default: your own)')
    .option('--allow-warned', 'also 0 for work that was accepted without passing cleanly')
    .option('--json', 'data as JSON, one object a line')
    .action((file, options) =>
      choose(async (output) => (await import('../attest/verify.ts')).verifyAttestationCommand(app, output, file, options)),
    )
}

function addKeeping(program: Command, app: App, choose: Choose, configured: Configured): void {
  configured(program.command('gc'))
    .description('clear away stored content that nothing refers to')
    .option('--dry-run', 'only say what would go')
    .option('--grace <time>', 'leave what was used within this time (default: 24h, at least 2h)')
    .action((options) => choose(async (output) => (await import('../keep/gc.ts')).gcCommand(app, output, options)))
  const backup = configured(program.command('backup'))
    .description('copy a consistent state while others may be at work')
    .argument('<folder>', 'a new folder')
    .action((to, options) => choose(async (output) => (await import('../keep/backup.ts')).backupCommand(app, output, to, options)))
  withCheckpoint(backup.command('restore'))
    .description('prove a backup and put it in the place of .assay/, which must not be there')
    .argument('<folder>', 'the backup')
    .option('--accept-rollback', 'although it is older than the checkpoint')
    .action((from, _options, command: Command) =>
      choose(async (output) => (await import('../keep/backup.ts')).restoreCommand(app, output, from, command.optsWithGlobals())),
    )
}
