import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserServer, Page } from 'playwright-core'
import { isAlive, type ProcessIdentity, readProcess, signalProcess } from '../../process/census/identity.ts'
import { membersOf, openRun, type Run, type RunRoot, runVariable } from '../../process/census/members.ts'
import { buildEnv } from '../../process/environment.ts'

export interface LaunchRequest {
  program: string
  /** Private folder for what the browser writes besides its profile. */
  home: string
  proxy: string
  width: number
  timeoutMs: number
}

/** A browser with one page open, and everything it started. */
export interface OpenBrowser {
  page: Page
  /** Resolves to the reason when the page can no longer be trusted to end by itself: it crashed, or uses up memory or dialogs. */
  lost: Promise<string>
  /** What the page tried that was turned away, one line each. */
  turnedAway(): string[]
  /** Ends the browser and all of its processes, at once. */
  kill(): Promise<void>
}

const height = 844
const mostMemoryKib = 2 * 1024 * 1024
const memoryEveryMs = 500
const mostDialogs = 20

/** No way to the network but the proxy, nothing left on disk, and a bound on what scripts may allocate. */
const switches = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-sync',
  '--component-updater=url-source=http://127.0.0.1:1/',
  '--gaia-url=http://127.0.0.1:1',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--js-flags=--max-old-space-size=512',
]

/** Starts an installed Chromium as a phone with a fresh profile. Throws what the browser's driver throws. */
export async function openBrowser({ program, home, proxy, width, timeoutMs }: LaunchRequest, signal: AbortSignal): Promise<OpenBrowser> {
  // It takes a second to load: only where a browser is needed.
  const { chromium } = await import('playwright-core')
  const run = openRun()
  const launching = chromium.launchServer({
    executablePath: program,
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0,
    args: switches,
    artifactsDir: home,
    env: buildEnv({ pass: ['FONTCONFIG_PATH', 'FONTCONFIG_FILE'], extra: { HOME: home, TMPDIR: home, [runVariable]: run.trail } }),
    // The browser's driver would end this process itself; stopping is the caller's business.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    host: '127.0.0.1',
    proxy: { server: proxy },
    timeout: timeoutMs,
  })
  const server = await untilStopped(launching, run, signal)
  const pid = server.process().pid ?? 0
  const root: RunRoot = { ...run, pid, start: readProcess(pid)?.start ?? 0 }
  try {
    const browser = await chromium.connect(server.wsEndpoint(), { timeout: timeoutMs })
    return await openPage(browser, server, root, width)
  } catch (error) {
    await end(server, root)
    throw error
  }
}

/**
 * The driver cannot be told to stop starting; it gives up when what it started has ended, which is looked for by the mark of the run.
 * After a start that failed nothing of it is left either.
 */
async function untilStopped<T>(launching: Promise<T>, run: Run, signal: AbortSignal): Promise<T> {
  const marked: RunRoot = { ...run, pid: -1, start: 0 }
  const timer = setInterval(() => {
    if (signal.aborted) killAll(marked)
  }, 100)
  try {
    return await launching
  } catch (error) {
    await killAndWait(marked)
    throw error
  } finally {
    clearInterval(timer)
  }
}

async function openPage(browser: Browser, server: BrowserServer, root: RunRoot, width: number): Promise<OpenBrowser> {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    serviceWorkers: 'block',
    acceptDownloads: false,
  })
  await context.grantPermissions([])
  const page = await context.newPage()
  const { promise: lost, resolve: lose } = Promise.withResolvers<string>()
  const away = { dialogs: 0, popups: 0, downloads: 0 }
  page.on('crash', () => lose('the page crashed'))
  browser.on('disconnected', () => lose('the browser ended'))
  page.on('download', () => away.downloads++)
  // What is turned away may be gone by the time it is answered, and then needs no answer.
  const gone = () => undefined
  page.on('dialog', (dialog) => {
    if (++away.dialogs > mostDialogs) lose(`the page opened more than ${mostDialogs} dialogs`)
    void dialog.dismiss().catch(gone)
  })
  context.on('page', (other) => {
    away.popups++
    void other.close().catch(gone)
  })
  const stopWatching = watchMemory(root, lose)
  return {
    page,
    lost,
    turnedAway: () => Object.entries(away).flatMap(([what, count]) => (count > 0 ? [`turned away: ${count} ${what}`] : [])),
    async kill() {
      stopWatching()
      await end(server, root)
    },
  }
}

/** What the system does not tell (memory of processes outside Linux) is not bounded here; the deadline still is. */
function watchMemory(root: RunRoot, lose: (why: string) => void): () => void {
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void memoryKib(root)
      .then((kib) => {
        if (kib > mostMemoryKib) lose(`the page used more than ${mostMemoryKib / 1024} MiB of memory`)
      })
      .finally(() => {
        looking = false
      })
  }, memoryEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function memoryKib(root: RunRoot): Promise<number> {
  const parts = await Promise.all(
    membersOf(root).map(async ({ pid }) => {
      // A process that has ended meanwhile uses none.
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
    }),
  )
  return parts.reduce((sum, part) => sum + part, 0)
}

/** The driver kills the browser's group and removes its profile; whoever left the group is found by the mark of the run. */
async function end(server: BrowserServer, root: RunRoot): Promise<void> {
  const before = killAll(root)
  await server.kill()
  await killAndWait(root, before)
}

function killAll(root: RunRoot): ProcessIdentity[] {
  const members = membersOf(root)
  for (const member of members) signalProcess(member, 'SIGKILL')
  return members
}

/** Not even SIGKILL ends a process that waits for a device; that is not waited for without end. */
async function killAndWait(root: RunRoot, before: readonly ProcessIdentity[] = []): Promise<void> {
  const members = [...before, ...killAll(root)]
  for (let round = 0; round < 500 && members.some((member) => isAlive(member)); round++) await sleep(10)
}
