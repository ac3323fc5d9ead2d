import { tmpdir } from 'node:os'
import { buildEnv } from '../process/environment.ts'
import { runProcess } from '../process/run.ts'
import type { Message } from '../../contract/notify/message.ts'
import type { Notifier } from '../../ports/notifier.ts'
import { type Environment, refuse } from './environment.ts'

/** What a notification program needs to find the person's screen. */
const session = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']
/** Texts are arguments of the script, never part of it. */
const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run']

/** A notification on this machine's screen. A machine without the program is told of once and not asked again. */
export function desktopNotifier(env: Environment, timeoutMs: number, platform: NodeJS.Platform = process.platform): Notifier {
  return {
    async send(message, signal) {
      const argv = commandFor(message, platform)
      if (!argv) return refuse(`no program that shows notifications is known on ${platform}`)
      const ending = await runProcess({
        argv,
        cwd: tmpdir(),
        env: buildEnv({ pass: session, from: env }),
        timeoutMs,
        maxOutputBytes: 4096,
        killGraceMs: 500,
        signal,
      })
      if (ending.kind === 'exited' && ending.code === 0) return { ok: true }
      if (ending.kind === 'not_started') return refuse(`${argv[0]} could not be started (${ending.code})${installHint(argv[0])}`)
      if (ending.kind === 'timed_out' || ending.kind === 'stopped')
        return { ok: false, retry: true, detail: `${argv[0]} did not end in time` }
      return refuse(`${argv[0]} failed (${ending.kind === 'exited' ? `exit ${ending.code}` : ending.signal})`)
    },
  }
}

function commandFor({ title, text, severity }: Message, platform: NodeJS.Platform): [string, ...string[]] | undefined {
  const urgency = severity === 'error' || severity === 'critical' ? 'critical' : severity === 'warning' ? 'normal' : 'low'
  if (platform === 'darwin') return ['osascript', ...script.flatMap((line) => ['-e', line]), title, text]
  if (platform === 'win32') return undefined
  return ['notify-send', '-a', 'Assay', '-u', urgency, '--', title, escapeMarkup(text)]
}

/** The body of a notification may be markup; nobody's words become any. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function installHint(program: string): string {
  return program === 'notify-send' ? '; it comes with the package libnotify-bin' : ''
}
