import type { CheckSpec } from '../../../contract/check.ts'
import { durationMs } from '../../../contract/config/duration.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { openInside } from '../inside.ts'
import { guardedFetch } from '../net/guarded-fetch.ts'
import type { Fetched, FetchFailure, FetchFailureCode } from '../net/rules.ts'
import { broken, type CheckResult, failed } from '../result.ts'

type PageSpec = Extract<CheckSpec, { kind: 'http' | 'html' }>

export interface WebLimits {
  /** Time for a check that sets none. */
  timeoutMs: number
  /** Most bytes of a page, once unpacked. */
  maxBytes: number
}

/** Asks for the page that a check names: an address on the network, or a file of the work, served over loopback for as long as it takes. */
export async function fetchPage(
  spec: PageSpec,
  { folder }: CheckContext,
  limits: WebLimits,
  signal: AbortSignal,
): Promise<Fetched | { result: CheckResult }> {
  const rules = {
    ...(spec.hosts !== undefined && { hosts: spec.hosts }),
    ...(spec.allowPrivate !== undefined && { allowPrivate: spec.allowPrivate }),
    ...(spec.kind === 'http' && spec.redirects !== undefined && { redirects: spec.redirects }),
    timeoutMs: spec.timeout === undefined ? limits.timeoutMs : durationMs(spec.timeout),
    maxBytes: limits.maxBytes,
  }
  if ((spec.url === undefined) === (spec.path === undefined)) return { result: broken('the check needs `path` or `url`, one of them') }
  if (spec.url !== undefined) return orResult(excerpt(spec.url), await guardedFetch(spec.url, rules, signal))
  const path = spec.path ?? ''
  const found = await openInside(folder, path)
  if (found.kind === 'file') await found.handle.close()
  if (found.kind === 'bad_path') return { result: broken(`${excerpt(path)}: ${found.why}`) }
  if (found.kind === 'refused') return { result: failed(`${excerpt(path)}: ${found.why}`) }
  const { serveFolder } = await import('../page/serve.ts')
  const served = await serveFolder(folder)
  try {
    const address = served.urlOf(found.kind === 'folder' ? `${path}/` : path)
    return orResult(excerpt(path), await guardedFetch(address, { ...rules, ownOrigin: served.origin }, signal))
  } finally {
    await served.close()
  }
}

/** What says nothing about the page: the check could not look. */
const notThePage: ReadonlySet<FetchFailureCode> = new Set(['unresolved', 'no_answer', 'timed_out', 'stopped'])

function orResult(subject: string, fetched: Fetched | FetchFailure): Fetched | { result: CheckResult } {
  if (fetched.ok) return fetched
  const summary = `${subject}: ${fetched.message}`
  // A refusal of the very first address is for whoever wrote the check; later ones are the page's doing.
  const ofTheCheck = notThePage.has(fetched.code) || fetched.hops.length === 0
  return { result: ofTheCheck ? broken(summary, hopLines(fetched)) : failed(summary, hopLines(fetched)) }
}

/** The chain of requests, for reports. */
export function hopLines({ hops }: Pick<Fetched, 'hops'>): string {
  return hops.map(({ url, status }) => `GET ${excerpt(url)} → ${status ?? 'no complete answer'}`).join('\n')
}

/** The body as text, by the character set that its headers name. */
export function textOf({ headers, body }: Fetched): string {
  const label = /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(headers.get('content-type') ?? '')?.[1] ?? 'utf-8'
  return new TextDecoder(isKnown(label) ? label : 'utf-8').decode(body)
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
