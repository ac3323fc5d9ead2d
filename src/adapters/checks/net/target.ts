import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { excerpt } from '../../../contract/source/shown.ts'
import { addressProblem } from './addresses.ts'
import { type FetchRefusal, type FetchRules, fetchDefaults, refusal } from './rules.ts'

/** An address that may be asked, and where connections to it go. */
export interface Target {
  url: URL
  addresses: readonly string[]
}

/** The target that a text means under the rules. Every address of its host is checked: one bad one refuses the host. */
export async function targetOf(
  text: string,
  base: URL | undefined,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<Target | FetchRefusal> {
  const url = text.length > fetchDefaults.longestUrl ? null : URL.parse(text, base?.href)
  if (url === null) return refusal('bad_url', `${excerpt(text)} is no address`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refusal('bad_url', `${excerpt(text)}: only http and https are asked`)
  if (url.username !== '' || url.password !== '')
    return refusal('bad_url', `${excerpt(url.host)}: an address with a user name or password is not asked`)
  url.hash = ''
  const own = url.origin === rules.ownOrigin
  if (!own && rules.hosts !== undefined && !rules.hosts.some((entry) => isListed(entry, url)))
    return refusal('host_refused', `${excerpt(url.host)} is not one of the hosts that may be asked`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) === 0 ? await resolve(host, rules, signal) : [host]
  if (!Array.isArray(addresses)) return addresses
  for (const address of addresses) {
    const problem = addressProblem(address, own || rules.allowPrivate === true)
    if (problem === undefined) continue
    const where = address === host ? '' : `${excerpt(host)} has the address `
    return refusal('address_refused', `${where}${excerpt(address)}${where === '' ? '' : ', which'} ${problem}`)
  }
  return { url, addresses }
}

async function resolve(name: string, rules: FetchRules, signal: AbortSignal): Promise<string[] | FetchRefusal> {
  const lookup = rules.lookup ?? ((host) => systemLookup(host, { all: true }))
  try {
    const found = await orAborted(lookup(name), signal)
    if (found.length === 0) return refusal('unresolved', `${excerpt(name)} has no address`)
    if (found.length > fetchDefaults.mostAddresses) return refusal('address_refused', `${excerpt(name)} has ${found.length} addresses`)
    return found.map(({ address }) => address)
  } catch (error) {
    signal.throwIfAborted()
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return refusal('unresolved', `${excerpt(name)} has no address: ${code}`)
  }
}

/** A name's addresses cannot be called off; whoever waits for them can. */
async function orAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  return await Promise.race([pending, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

/** Whether an entry of `hosts` lists the host, and the port where it names one. */
function isListed(entry: string, url: URL): boolean {
  const below = entry.startsWith('*.')
  const listed = URL.parse(`${url.protocol}//${below ? entry.slice(2) : entry}`)
  if (listed === null) return false
  const [name, wanted] = [withoutDot(url.hostname), withoutDot(listed.hostname)]
  const samePort = /:\d+$/.test(entry) ? listed.port === url.port : true
  return samePort && (below ? name.endsWith(`.${wanted}`) : name === wanted)
}

/** `example.com.` is `example.com`. */
function withoutDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
