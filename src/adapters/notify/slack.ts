import type { Channel } from '../../contract/config/notify.ts'
import type { Notifier } from '../../ports/notifier.ts'
import { addressFrom, type Environment } from './environment.ts'
import { post } from './http.ts'

/** What Slack says is wrong, in its own words; anything else that it answers is not passed on. */
const knownWords = new Set([
  'action_prohibited',
  'channel_is_archived',
  'channel_not_found',
  'invalid_blocks',
  'invalid_payload',
  'invalid_token',
  'msg_blocks_too_long',
  'no_active_hooks',
  'no_service',
  'no_text',
  'posting_to_general_channel_denied',
  'team_disabled',
  'user_not_found',
])

/** An incoming webhook of Slack. */
export function slackNotifier({ urlEnv }: Extract<Channel, { kind: 'slack' }>, env: Environment, timeoutMs: number): Notifier {
  return {
    async send(message, signal) {
      const address = addressFrom(env, urlEnv)
      if (!address.ok) return address
      const headers = { 'content-type': 'application/json' }
      const posted = await post({ url: address.value, headers, body: JSON.stringify(message.body), timeoutMs, signal })
      if (posted.ok) return { ok: true }
      const { answer = '', ...failed } = posted
      return knownWords.has(answer.trim()) ? { ...failed, detail: `${failed.detail}: ${answer.trim()}` } : failed
    },
  }
}
