import type { Channel } from '../../contract/config/notify.ts'
import type { Notifier } from '../../ports/notifier.ts'
import { type Environment, fromEnvironment } from './environment.ts'
import { post } from './http.ts'

const pagerdutyAddress = 'https://events.pagerduty.com/v2/enqueue'

/** PagerDuty's Events API v2. Each event is keyed, so that one sent twice is one alert. */
export function pagerdutyNotifier(
  { routingKeyEnv }: Extract<Channel, { kind: 'pagerduty' }>,
  env: Environment,
  timeoutMs: number,
  url = pagerdutyAddress,
): Notifier {
  return {
    async send(message, signal) {
      const key = fromEnvironment(env, routingKeyEnv)
      if (!key.ok) return key
      for (const event of message.body as object[]) {
        const headers = { 'content-type': 'application/json' }
        const posted = await post({ url, headers, body: JSON.stringify({ ...event, routing_key: key.value }), timeoutMs, signal })
        if (!posted.ok) {
          const { answer: _unread, ...failed } = posted
          return failed
        }
      }
      return { ok: true }
    },
  }
}
