import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Ranges that `allowPrivate` opens. */
const privateRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'unspecified'])
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Why an address may not be connected to; undefined where it may. Only what is known to be public passes, so that a range nobody thought of is refused. */
export function addressProblem(address: string, allowPrivate: boolean): string | undefined {
  if (isIP(address) === 0 || address.includes('%')) return 'is no address'
  const parsed = ipaddr.parse(address)
  const range: string = parsed.range()
  if (allowPrivate && privateRanges.has(range)) return undefined
  if (range !== 'unicast') return `is not public (${range})`
  return parsed.kind() === 'ipv6' && !parsed.match(globalUnicast) ? 'is not public (reserved)' : undefined
}
