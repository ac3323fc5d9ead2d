import { connect, type Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import type { Channel } from '../../contract/config/notify.ts'
import type { Message } from '../../contract/notify/message.ts'
import type { Notifier, Sent } from '../../ports/notifier.ts'
import { type Environment, type Found, fromEnvironment } from './environment.ts'

type EmailChannel = Extract<Channel, { kind: 'email' }>

/** SMTP. A letter keeps its Message-ID over retries. Where there is a password, it is sent over TLS or not at all, but for a server on this machine. */
export function emailNotifier(channel: EmailChannel, env: Environment, timeoutMs: number): Notifier {
  return {
    async send(message, signal) {
      const user = channel.userEnv === undefined ? undefined : fromEnvironment(env, channel.userEnv)
      const pass = channel.passwordEnv === undefined ? undefined : fromEnvironment(env, channel.passwordEnv)
      if (user && !user.ok) return user
      if (pass && !pass.ok) return pass
      return deliver(channel, message, { user, pass }, { timeoutMs, signal })
    },
  }
}

interface Credentials {
  user: Extract<Found, { ok: true }> | undefined
  pass: Extract<Found, { ok: true }> | undefined
}

async function deliver(
  channel: EmailChannel,
  message: Message,
  { user, pass }: Credentials,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Sent> {
  const { host, port, secure, from, to } = channel
  const deadline = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, deadline])
  // The socket is ours, so that the deadline also ends a server that answers a byte at a time.
  const socket = connect({ host, port })
  const end = () => socket.destroy(new Error('ended'))
  ended.addEventListener('abort', end)
  if (ended.aborted) end()
  try {
    await connected(socket)
    const transport = createTransport({
      host,
      port,
      secure,
      requireTLS: !secure && pass !== undefined && !isLoopback(host),
      ...(user && { auth: { user: user.value, pass: pass?.value ?? '' } }),
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options: unknown, callback: (error: Error | null, found: { connection: Socket }) => void) =>
        callback(null, { connection: socket }),
    })
    await transport.sendMail({ from, to, subject: message.title, text: message.text, messageId: letterId(message.id, from) })
    return { ok: true }
  } catch (error) {
    if (deadline.aborted) return { ok: false, retry: true, detail: `the mail server took longer than ${timeoutMs / 1000} s` }
    if (signal.aborted) return { ok: false, retry: true, detail: 'stopped before the letter was taken' }
    return failure(error as { code?: string; responseCode?: number })
  } finally {
    ended.removeEventListener('abort', end)
    socket.destroy()
  }
}

/** Listens for errors for good: one that comes while nobody else listens must not end the process. */
function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('connect', resolve)
  })
}

/** The server's number and the library's code say enough; its words may repeat what it was sent. */
function failure({ code, responseCode }: { code?: string; responseCode?: number }): Sent {
  if (code === 'EAUTH') return { ok: false, retry: false, detail: 'the mail server refused the user name or password' }
  if (code === 'ETLS') return { ok: false, retry: false, detail: 'no secure connection to the mail server could be made (ETLS)' }
  if (typeof responseCode === 'number') return { ok: false, retry: responseCode < 500, detail: `the mail server answered ${responseCode}` }
  const known = typeof code === 'string' && /^E[A-Z0-9_]{2,40}$/.test(code) ? code : 'network error'
  return { ok: false, retry: known !== 'EENVELOPE', detail: `the mail server could not be reached (${known})` }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function letterId(id: string, from: string): string {
  const domain = /@([A-Za-z0-9.-]{1,200})/.exec(from)?.[1] ?? 'assay.invalid'
  return `<${id}@${domain}>`
}
