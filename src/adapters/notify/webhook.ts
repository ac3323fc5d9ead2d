import { Webhook } from 'standardwebhooks'
import type { Channel } from '../../contract/config/notify.ts'
import type { Notifier } from '../../ports/notifier.ts'
import { addressFrom, type Environment, type Found, fromEnvironment, isPostable, refuse } from './environment.ts'
import { post } from './http.ts'

/** CloudEvents, signed as Standard Webhooks say: over the very bytes that are sent. */
export function webhookNotifier(channel: Extract<Channel, { kind: 'webhook' }>, env: Environment, timeoutMs: number): Notifier {
  return {
    async send(message, signal) {
      const address = addressOf(channel, env)
      if (!address.ok) return address
      const body = JSON.stringify(message.body)
      const now = new Date()
      const signature = channel.secretEnv === undefined ? undefined : sign(channel.secretEnv, env, message.id, now, body)
      if (signature && !signature.ok) return signature
      const headers = {
        'content-type': 'application/cloudevents+json',
        'webhook-id': message.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        ...(signature && { 'webhook-signature': signature.value }),
      }
      const posted = await post({ url: address.value, headers, body, timeoutMs, signal })
      if (posted.ok) return { ok: true }
      const { answer: _unread, ...failed } = posted
      return failed
    },
  }
}

function addressOf({ url, urlEnv }: Extract<Channel, { kind: 'webhook' }>, env: Environment): Found {
  if (urlEnv !== undefined) return addressFrom(env, urlEnv)
  if (url !== undefined && isPostable(url)) return { ok: true, value: url }
  return refuse('its `url` is not an http or https address without user and password; one with a secret belongs in `urlEnv`')
}

/** One signature for each secret in the variable, separated by spaces: while a secret is exchanged both are there. */
function sign(name: string, env: Environment, id: string, now: Date, body: string): Found {
  const secrets = fromEnvironment(env, name)
  if (!secrets.ok) return secrets
  try {
    const signatures = secrets.value.split(/\s+/).map((secret) => new Webhook(secret).sign(id, now, body))
    return { ok: true, value: signatures.join(' ') }
  } catch (error) {
    return refuse(`the environment variable ${name} does not hold a signing secret, whsec_ and base64 (${(error as Error).name})`)
  }
}
