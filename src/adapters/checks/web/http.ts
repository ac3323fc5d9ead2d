import type { CheckSpec } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import type { Fetched } from '../net/rules.ts'
import { type CheckResult, judged } from '../result.ts'
import { fetchPage, hopLines, textOf, type WebLimits } from './page.ts'

type HttpSpec = Extract<CheckSpec, { kind: 'http' }>

/** Asks for a page and looks at status, headers and text of the answer. */
export async function checkHttp(spec: HttpSpec, context: CheckContext, limits: WebLimits, signal: AbortSignal): Promise<CheckResult> {
  const fetched = await fetchPage(spec, context, limits, signal)
  if ('result' in fetched) return fetched.result
  return judged(excerpt(spec.url ?? spec.path ?? ''), complaintsAbout(fetched, spec), hopLines(fetched).split('\n'))
}

function complaintsAbout(fetched: Fetched, spec: HttpSpec): string[] {
  const complaints: string[] = []
  const status = spec.status ?? 200
  if (fetched.status !== status) complaints.push(`answered ${fetched.status}; ${status} is expected`)
  for (const [name, expected] of Object.entries(spec.headers ?? {})) {
    const value = fetched.headers.get(name.toLowerCase())
    if (value === undefined) complaints.push(`has no header ${excerpt(name)}`)
    else if (!isSameValue(value, expected))
      complaints.push(`has the header ${excerpt(name)}: ${excerpt(value)}; "${excerpt(expected)}" is expected`)
  }
  const text = spec.contains === undefined ? '' : textOf(fetched)
  return [
    ...complaints,
    ...(spec.contains ?? []).filter((wanted) => !text.includes(wanted)).map((wanted) => `does not contain "${excerpt(wanted)}"`),
  ]
}

/** `text/html` is `text/html; charset=utf-8` too: parameters count where they are asked for. */
function isSameValue(value: string, expected: string): boolean {
  const [bare = ''] = value.split(';')
  return value.trim() === expected.trim() || (!expected.includes(';') && bare.trim() === expected.trim())
}
