import type { FetchPage } from '../../engine/parts.ts'

/** Largest page that is taken. */
export const maxPageBytes = 32 * 1024 * 1024
const pageMs = 60_000

/** The body of a page as its server gives it now; anything but a plain 200 is no page. */
export const fetchPage: FetchPage = async (url, { allowPrivate }) => {
  const { guardedFetch } = await import('../../adapters/checks/net/guarded-fetch.ts')
  const rules = { timeoutMs: pageMs, redirects: 5, allowPrivate, maxBytes: maxPageBytes }
  const fetched = await guardedFetch(url, rules, new AbortController().signal)
  if (!fetched.ok) return { ok: false, code: fetched.code, message: fetched.message }
  if (fetched.status !== 200) return { ok: false, code: 'status', message: `the server answers ${fetched.status}` }
  return { ok: true, body: fetched.body }
}
