import { randomUUID } from 'node:crypto'
import { tryChannel } from '../../../engine/notify/trial.ts'
import type { OpenNotifier } from '../../../ports/notifier.ts'
import type { ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { type ConfigFlags, findProject } from '../project.ts'
import { refuse } from './run.ts'

/** `assay notify test <channel>`: sends one message now and says what happened. */
export async function notifyTestCommand(
  { openNotifier }: { openNotifier: OpenNotifier },
  output: Output,
  name: string,
  flags: ConfigFlags,
): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const { channels } = found.value.project.config.notify
  const channel = Object.hasOwn(channels, name) ? channels[name] : undefined
  if (!channel) {
    const declared = Object.keys(channels)
    output.note(
      `assay: there is no channel ${oneLine(name)}; ${declared.length === 0 ? 'notify.channels declares none' : `there are: ${declared.join(', ')}`}`,
    )
    return 2
  }
  const trial = { name, channel, id: randomUUID(), at: new Date().toISOString() }
  const sent = await tryChannel(openNotifier, trial, new AbortController().signal)
  if (output.json) output.jsonLine({ kind: 'notification_tested', channel: name, channelKind: channel.kind, ...sent })
  else if (sent.ok) output.data(`${name} (${channel.kind}): delivered`)
  else output.data(`${name} (${channel.kind}): NOT delivered: ${sent.detail}${sent.retry ? '. In a run it would be tried again.' : ''}`)
  return sent.ok ? 0 : 1
}
