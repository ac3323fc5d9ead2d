/** Why a request is not even looked at: it was sent to another name than ours, or by a page that is not ours. */
export type AddressRefusal = { code: 'host_refused' | 'origin_refused'; detail: string }

interface Addressing {
  /** What the request line asks for: a path, or a whole address. */
  target: string | undefined
  host: string | undefined
  origin: string | undefined
  /** `Sec-Fetch-Site`, which browsers send and pages cannot forge. */
  site: string | undefined
}

/**
 * Keeps pages of other origins out. A name that somebody else made point here (DNS rebinding) comes with its own `Host`; a page that was not
 * served by us comes with its own `Origin`.
 */
export function refusedAddress({ target, host, origin, site }: Addressing, hosts: readonly string[]): AddressRefusal | undefined {
  const name = host === undefined ? undefined : nameOf(`http://${host}`)
  if (name === undefined || !hosts.includes(name))
    return { code: 'host_refused', detail: `this server does not answer as ${host ?? 'nobody'}; --allow-host names further names` }
  // A whole address counts before `Host`; two that differ are somebody's attempt to be two.
  if (target !== undefined && !target.startsWith('/') && target !== '*' && !sameHost(target, host ?? ''))
    return { code: 'host_refused', detail: `this server answers as ${host}, and was asked for another address` }
  if (origin !== undefined && (origin === 'null' || !sameHost(origin, host ?? '')))
    return { code: 'origin_refused', detail: `pages of ${origin} may not speak to this server` }
  if (site === 'cross-site' || site === 'same-site')
    return { code: 'origin_refused', detail: 'pages of another origin may not speak to this server' }
  return undefined
}

/** Host name without port, lower case; IPv6 in brackets. Undefined where it is none. */
function nameOf(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url && url.username === '' && url.password === '' && url.pathname === '/' ? url.hostname : undefined
}

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && URL.canParse(`http://${host}`) && new URL(origin).host === new URL(`http://${host}`).host
}
