import { type CheckSpec, HtmlRule } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { contentOf, readContent } from '../content/read.ts'
import { openInside } from '../inside.ts'
import { broken, type CheckResult, failed, judged } from '../result.ts'
import { htmlRules } from './html-rules.ts'
import { elementsOf, htmlLimits, parseHtml } from './html-tree.ts'
import { fetchPage, hopLines, textOf, type WebLimits } from './page.ts'

type HtmlSpec = Extract<CheckSpec, { kind: 'html' }>

/** Looks at how a page is written: a file of the work, or what an address answers. */
export async function checkHtml(spec: HtmlSpec, context: CheckContext, limits: WebLimits, signal: AbortSignal): Promise<CheckResult> {
  const subject = excerpt(spec.url ?? spec.path ?? '')
  const page =
    spec.path !== undefined && spec.url === undefined ? await ofFile(spec.path, context) : await ofAddress(spec, context, limits, signal)
  if ('result' in page) return page.result
  const parsed = await parseHtml(page.text.replace(/^\u{feff}/u, ''), signal)
  if ('stopped' in parsed) return broken(`${subject}: stopped before all of it was read`)
  if ('why' in parsed) return failed(`${subject}: ${parsed.why}`)
  const elements = [...elementsOf(parsed.document)]
  return judged(
    subject,
    (spec.rules ?? HtmlRule.options).flatMap((rule) => htmlRules[rule](elements)),
  )
}

type Page = { text: string } | { result: CheckResult }

/** The page of a folder is its `index.html`. */
async function ofFile(path: string, { folder }: CheckContext): Promise<Page> {
  const found = await openInside(folder, path)
  const content =
    found.kind === 'folder' ? await readContent(folder, `${path}/index.html`, htmlLimits.bytes) : await contentOf(found, htmlLimits.bytes)
  if ('text' in content) return content
  const summary = `${excerpt(path)}: ${content.why}`
  return { result: content.fault === 'check' ? broken(summary) : failed(summary) }
}

/** An error page, or a picture, is not the page that was meant. */
async function ofAddress(spec: HtmlSpec, context: CheckContext, limits: WebLimits, signal: AbortSignal): Promise<Page> {
  const maxBytes = Math.min(limits.maxBytes, htmlLimits.bytes)
  const fetched = await fetchPage(spec, context, { ...limits, maxBytes }, signal)
  if ('result' in fetched) return fetched
  const type = fetched.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  const subject = excerpt(spec.url ?? '')
  if (fetched.status !== 200) return { result: failed(`${subject}: answered ${fetched.status}; 200 is expected`, hopLines(fetched)) }
  if (type !== undefined && type !== 'text/html' && type !== 'application/xhtml+xml')
    return { result: failed(`${subject}: is ${excerpt(type)}, not HTML`, hopLines(fetched)) }
  return { text: textOf(fetched) }
}
