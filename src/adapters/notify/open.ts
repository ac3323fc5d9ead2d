import type { Channel } from '../../contract/config/notify.ts'
import type { Notifier } from '../../ports/notifier.ts'
import type { Environment } from './environment.ts'

export interface NotifierOptions {
  /** Where secrets are looked up, by the names that the configuration gives. */
  env: Environment
  stderr: NodeJS.WritableStream
  /** Most that one try may take. */
  timeoutMs?: number
  /** PagerDuty's address; its own unless told. */
  pagerdutyURL?: string
}

const defaultTimeoutMs = 15_000

/** Opens a channel of any kind. What it needs is loaded then: most runs tell nobody. */
export async function openNotifier(
  channel: Channel,
  { env, stderr, timeoutMs = defaultTimeoutMs, pagerdutyURL }: NotifierOptions,
): Promise<Notifier> {
  switch (channel.kind) {
    case 'slack':
      return (await import('./slack.ts')).slackNotifier(channel, env, timeoutMs)
    case 'pagerduty':
      return (await import('./pagerduty.ts')).pagerdutyNotifier(channel, env, timeoutMs, pagerdutyURL)
    case 'webhook':
      return (await import('./webhook.ts')).webhookNotifier(channel, env, timeoutMs)
    case 'email':
      return (await import('./email.ts')).emailNotifier(channel, env, timeoutMs)
    case 'desktop':
      return (await import('./desktop.ts')).desktopNotifier(env, timeoutMs)
    case 'stderr':
      return (await import('./stderr.ts')).stderrNotifier(stderr)
  }
}
