import type { Sent } from '../../ports/notifier.ts'

export interface Post {
  url: string
  headers: Record<string, string>
  body: string
  /** For everything together: connecting, sending, the whole answer. */
  timeoutMs: number
  signal: AbortSignal
}

export type Posted = { ok: true; answer: string } | (Extract<Sent, { ok: false }> & { answer?: string })

const maxAnswerBytes = 16 * 1024
const maxWaitMs = 3_600_000

/** Posts once. A redirect is a failure: nobody but the owner says where notifications go. Details name what happened, never the address or the answer. */
export async function post({ url, headers, body, timeoutMs, signal }: Post): Promise<Posted> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'user-agent': 'assay', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    })
    const answer = await firstBytes(response)
    if (response.ok) return { ok: true, answer }
    return { ...refusal(response), answer }
  } catch (error) {
    if (deadline.aborted) return { ok: false, retry: true, detail: `no answer within ${timeoutMs / 1000} s` }
    if (signal.aborted) return { ok: false, retry: true, detail: 'stopped before an answer came' }
    return { ok: false, retry: true, detail: `it could not be reached (${networkCode(error)})` }
  }
}

/** Enough of the answer to know Slack's word by; the rest is not read. */
async function firstBytes(response: Response): Promise<string> {
  if (!response.body) return ''
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < maxAnswerBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  await reader.cancel()
  return Buffer.concat(chunks).toString('utf8', 0, maxAnswerBytes)
}

function refusal(response: Response): Extract<Sent, { ok: false }> {
  const { status } = response
  if (status >= 300 && status < 400)
    return { ok: false, retry: false, detail: `it answered ${status}, a redirect; redirects are not followed` }
  const retry = status >= 500 || status === 408 || status === 425 || status === 429
  const seconds = Number(response.headers.get('retry-after'))
  const afterMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, maxWaitMs) : undefined
  return { ok: false, retry, detail: `it answered ${status}`, ...(retry && afterMs !== undefined && { afterMs }) }
}

/** The system's code for what went wrong, such as ECONNREFUSED; messages are not passed on, they may hold the address. */
function networkCode(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  const found = [cause?.code, code].find((one) => typeof one === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(one))
  return typeof found === 'string' ? found : 'network error'
}
