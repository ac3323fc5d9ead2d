import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { excerpt } from '../../../contract/source/shown.ts'
import { acceptEncoding, readBody } from './body.ts'
import { type Fetched, type FetchFailure, type FetchRefusal, type FetchRules, fetchDefaults, type Hop, refusal } from './rules.ts'
import { type Target, targetOf } from './target.ts'

const longestTimer = 2 ** 31 - 1
const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What came back, or where it sends us on; the body of a redirect that is followed is not read. */
type Answer = { status: number; headers: Map<string, string>; body: Buffer } | { status: number; location: string }

/** Asks for a page with GET, under rules that hold on every hop: names are resolved once, every address is checked, and the connection goes to those addresses alone. */
export async function guardedFetch(address: string, rules: FetchRules, signal: AbortSignal): Promise<Fetched | FetchFailure> {
  const deadline = AbortSignal.timeout(Math.min(rules.timeoutMs, longestTimer))
  const either = AbortSignal.any([signal, deadline])
  const hops: Hop[] = []
  try {
    return await follow(address, rules, either, hops)
  } catch (error) {
    return { ok: false, ...faultOf(error, rules, signal, deadline), hops }
  }
}

async function follow(address: string, rules: FetchRules, signal: AbortSignal, hops: Hop[]): Promise<Fetched | FetchFailure> {
  const redirects = rules.redirects ?? 0
  let next: { text: string; base?: URL } = { text: address }
  for (;;) {
    const target = await targetOf(next.text, next.base, rules, signal)
    if ('code' in target) return { ok: false, ...target, hops }
    const hop: Hop = { url: target.url.href, addresses: target.addresses }
    hops.push(hop)
    const answer = await ask(target, rules, signal)
    if ('code' in answer) return { ok: false, ...answer, hops }
    hop.status = answer.status
    if (!('location' in answer)) return { ok: true, url: target.url.href, ...answer, hops }
    if (hops.length > redirects) return { ok: false, ...refusal('too_many_redirects', `more than ${redirects} redirects`), hops }
    next = { text: answer.location, base: target.url }
  }
}

async function ask({ url, addresses }: Target, rules: FetchRules, signal: AbortSignal): Promise<Answer | FetchRefusal> {
  const { Agent, request } = await import('undici')
  const agent = new Agent({
    // The signal is the socket's own: a request hears of it only once it is connected, and a handshake may never end.
    connect: { lookup: pinnedTo(addresses), timeout: 0, rejectUnauthorized: true, signal },
    // One deadline ends everything: timers that a trickle resets would not.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: rules.maxHeaderBytes ?? fetchDefaults.maxHeaderBytes,
    allowH2: false,
    useMilo: false,
    pipelining: 0,
  })
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: 'GET',
      headers: { accept: '*/*', 'accept-encoding': acceptEncoding, 'user-agent': 'assay' },
      signal,
    })
    // A body that is left unread, or breaks when nobody reads it any longer, must not end the process.
    answer.body.on('error', () => undefined)
    const headers = joined(answer.headers)
    const { statusCode: status } = answer
    const location = redirecting.has(status) && (rules.redirects ?? 0) > 0 ? headers.get('location') : undefined
    if (location !== undefined) return { status, location }
    const read = await readBody(answer.body, headers.get('content-encoding') ?? '', rules.maxBytes ?? fetchDefaults.maxBytes)
    return 'code' in read ? read : { status, headers, body: read.body }
  } finally {
    await agent.destroy()
  }
}

/** Answers with the addresses that were checked, whatever the name means by now. An address in the place of a name is not looked up: it was checked itself. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_name, options, answer) => {
    if (options.all) return answer(null, pinned)
    answer(null, pinned[0]?.address ?? '', pinned[0]?.family)
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
    ),
  )
}

function faultOf(error: unknown, rules: FetchRules, signal: AbortSignal, deadline: AbortSignal): FetchRefusal {
  if (signal.aborted) return refusal('stopped', 'stopped before the answer was complete')
  if (deadline.aborted) return refusal('timed_out', `no complete answer within ${rules.timeoutMs} ms`)
  const { code, name, message } = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW')
    return refusal(
      'headers_too_large',
      `the headers have more than ${rules.maxHeaderBytes ?? fetchDefaults.maxHeaderBytes} bytes, the most that is read`,
    )
  // What the network or the other side does has a code or is no HTTP; anything else is a bug.
  if (code === undefined && name !== 'HTTPParserError') throw error
  return refusal('no_answer', `no complete answer: ${excerpt([code, message].join(' ').trim())}`)
}
