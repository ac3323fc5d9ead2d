import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { BrowserRule, type CheckSpec } from '../../../contract/check.ts'
import { durationMs } from '../../../contract/config/duration.ts'
import { excerpt, marked, visible } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { withPrivateFolder } from '../../process/files/private-folder.ts'
import { openInside } from '../inside.ts'
import type { FetchRules } from '../net/rules.ts'
import { targetOf } from '../net/target.ts'
import { serveFolder } from '../page/serve.ts'
import { broken, type CheckResult, failed, judged } from '../result.ts'
import { axeComplaints } from './axe.ts'
import { collectFacts, type PageFacts } from './collect.ts'
import { findChrome } from './find-chrome.ts'
import { scrollComplaints, tapComplaints, viewportComplaints } from './geometry.ts'
import { openBrowser } from './launch.ts'
import { type GuardedProxy, openProxy } from './proxy.ts'
import { takeScreenshot } from './screenshot.ts'
import { freeze, type World } from './worlds.ts'

type BrowserSpec = Extract<CheckSpec, { kind: 'browser' }>

export interface BrowserOptions {
  /** Time for a check that sets none. */
  timeoutMs: number
  /** Program of an installed Chromium; without it, the one that is found. */
  chrome?: string
}

/** What a page needs to be visited, and how to put it away again. */
interface Visit {
  subject: string
  url: string
  rules: FetchRules
  close(): Promise<void>
}

const usualWidth = 390
const longestTimer = 2 ** 31 - 1
const settleMs = 3_000
const crashNoticeMs = 500
const longestLog = 4_000

/** Looks at a page with a phone's window in an installed Chromium. Whatever the page does, no process is left and nothing unclear passes. */
export async function checkBrowser(
  spec: BrowserSpec,
  context: CheckContext,
  options: BrowserOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const chrome = findChrome({ chrome: options.chrome })
  if ('why' in chrome) return broken(chrome.why)
  const timeoutMs = Math.min(spec.timeout === undefined ? options.timeoutMs : durationMs(spec.timeout), longestTimer)
  const deadline = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, deadline])
  const visit = await prepare(spec, context, timeoutMs, either)
  if ('outcome' in visit) return visit
  const ended = (): CheckResult =>
    signal.aborted ? broken(`${visit.subject}: stopped`) : broken(`${visit.subject}: not ready within the time limit of ${timeoutMs} ms`)
  try {
    const proxy = await openProxy(visit.rules, either)
    try {
      return await withPrivateFolder((home) => {
        const launch = { program: chrome.program, home, proxy: proxy.origin, width: spec.width ?? usualWidth, timeoutMs }
        return visitPage(spec, context, visit, proxy, launch, either, ended)
      })
    } finally {
      await proxy.close()
    }
  } finally {
    await visit.close()
  }
}

async function prepare(spec: BrowserSpec, context: CheckContext, timeoutMs: number, signal: AbortSignal): Promise<Visit | CheckResult> {
  if ((spec.path === undefined) === (spec.url === undefined)) return broken('the check needs either `path` or `url`')
  if (spec.url !== undefined) {
    const { hosts, allowPrivate } = spec
    const rules: FetchRules = { timeoutMs, ...(hosts !== undefined && { hosts }), ...(allowPrivate !== undefined && { allowPrivate }) }
    const target = await targetOf(spec.url, undefined, rules, signal)
    if ('code' in target) return broken(`${excerpt(spec.url)}: ${target.message}`)
    return { subject: excerpt(spec.url), url: spec.url, rules, close: async () => undefined }
  }
  const path = spec.path ?? ''
  const found = await openInside(context.folder, path)
  if (found.kind === 'bad_path') return broken(`${excerpt(path)}: ${found.why}`)
  if (found.kind === 'missing') return failed(`${excerpt(path)}: it does not exist`)
  if (found.kind === 'refused') return failed(`${excerpt(path)}: ${found.why}`)
  if (found.kind === 'file') await found.handle.close()
  const served = await serveFolder(context.folder)
  const url = served.urlOf(found.kind === 'folder' ? `${path}/` : path)
  return { subject: excerpt(path), url, rules: { timeoutMs, hosts: [], ownOrigin: served.origin }, close: () => served.close() }
}

/** Opens the browser, looks, and ends the browser whatever came of it. */
async function visitPage(
  spec: BrowserSpec,
  context: CheckContext,
  visit: Visit,
  proxy: GuardedProxy,
  launch: Parameters<typeof openBrowser>[0],
  signal: AbortSignal,
  ended: () => CheckResult,
): Promise<CheckResult> {
  if (signal.aborted) return ended()
  const opened = await openBrowser(launch, signal).catch((error: Error) => ({ error }))
  if ('error' in opened)
    return signal.aborted
      ? ended()
      : broken(`the browser ${excerpt(launch.program)} could not be started`, marked(opened.error.message.slice(0, longestLog)))
  const stopped = Promise.withResolvers<CheckResult>()
  const stop = () => stopped.resolve(ended())
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const lost = opened.lost.then((why) => broken(`${visit.subject}: ${why}`))
  // What a crash breaks off fails first; the crash is the better reason.
  const looked = look(spec, context, visit, opened.page).catch((error: Error) =>
    Promise.race([lost, sleep(crashNoticeMs, broken(`${visit.subject}: ${firstLine(error)}`))]),
  )
  try {
    const result = await Promise.race([stopped.promise, lost, looked])
    const overflow = proxy.overflow()
    const notes = [...proxy.refused().map((refused) => `blocked: ${refused}`), ...opened.turnedAway()].map(visible)
    const output = [result.output, ...notes].filter((line) => line !== '').join('\n')
    if (overflow !== undefined) return broken(`${visit.subject}: ${overflow}`, output)
    return { ...result, output }
  } finally {
    signal.removeEventListener('abort', stop)
    await opened.kill()
    await looked
  }
}

async function look(spec: BrowserSpec, context: CheckContext, visit: Visit, page: Page): Promise<CheckResult> {
  // The deadline is kept by whoever waits for this.
  const response = await page.goto(visit.url, { waitUntil: 'load', timeout: 0 })
  const status = response?.status() ?? 0
  if (status < 200 || status > 299) return failed(`${visit.subject}: answered with status ${status}`)
  await settle(page)
  const { session, worlds } = await freeze(page)
  const rules = spec.rules ?? BrowserRule.options
  const complaints: string[] = []
  for (const world of worlds) complaints.push(...(await complaintsOf(world, rules)))
  const result = judged(visit.subject, complaints)
  const screenshot = await takeScreenshot(session)
  if ('why' in screenshot) return { ...result, output: [result.output, screenshot.why].filter((line) => line !== '').join('\n') }
  const { bytes, mediaType, name, cut } = screenshot
  const evidence = [{ name, mediaType, digest: await context.keep(bytes), bytes: bytes.length }]
  return { ...result, output: [result.output, cut ?? ''].filter((line) => line !== '').join('\n'), evidence }
}

/** Gives a page that loads more by script the time to do so; one that never rests is looked at as it is then. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: settleMs }).catch((error: Error) => {
    if (error.name !== 'TimeoutError') throw error
  })
}

async function complaintsOf(world: World, rules: readonly BrowserRule[]): Promise<string[]> {
  const facts = await world.evaluate<PageFacts>(collectFacts)
  return [
    ...facts.hiding.map(
      (name) => `${name} has a name that hides a built-in of its form, which then cannot be checked; give it another name`,
    ),
    ...(world.main && rules.includes('viewport') ? viewportComplaints(facts) : []),
    ...(world.main && rules.includes('scroll') ? scrollComplaints(facts) : []),
    ...(rules.includes('tap') ? tapComplaints(facts) : []),
    ...(rules.includes('axe') ? await axeComplaints(world) : []),
  ]
}

function firstLine(error: Error): string {
  return excerpt((error.message.split('\n')[0] ?? '').replace(/^[\w.]+: /, ''))
}
