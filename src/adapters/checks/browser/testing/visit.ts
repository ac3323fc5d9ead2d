import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Digest, sha256Hex } from '../../../../contract/canonical.ts'
import type { CheckSpec } from '../../../../contract/check.ts'
import { listPids, type ProcessEntry, readProcess } from '../../../process/census/identity.ts'
import type { CheckResult } from '../../result.ts'
import { checkBrowser } from '../browser.ts'
import { chromeForTests } from './chrome.ts'

export const chrome = chromeForTests()

/** Time for a page that is not meant to use it up. */
export const timeoutMs = 60_000

type Asked = Partial<Extract<CheckSpec, { kind: 'browser' }>>

/** A folder of work and a browser to look at it with. After the test the folder is gone, and a process that was left behind is a failure. */
export interface Bench {
  /** Folder around the work. */
  home: string
  folder: string
  /** Pictures that checks have kept. */
  kept: Uint8Array[]
  /** Checks a page, given as its text or as a target. */
  check(page: string | Asked, rest?: Asked, options?: { signal?: AbortSignal; chrome?: string }): Promise<CheckResult>
  /** Starts a web server; its origin. */
  listen(listener: RequestListener): Promise<string>
}

export function openBench(): Bench {
  const home = mkdtempSync(join(tmpdir(), 'assay-browser-'))
  const folder = join(home, 'work')
  mkdirSync(folder)
  onTestFinished(async () => {
    // Those of another test file may be ending just now.
    await expect.poll(() => livingBrowsers(), { timeout: 10_000 }).toEqual([])
    rmSync(home, { recursive: true, force: true })
  })
  const kept: Uint8Array[] = []
  const keep = async (bytes: Uint8Array): Promise<Digest> => {
    kept.push(bytes)
    return `sha256:${sha256Hex(Buffer.from(bytes).toString('base64'))}`
  }
  const context = { folder, output: '', changed: [], baseFile: async () => undefined, keep }
  return {
    home,
    folder,
    kept,
    async check(page, rest = {}, options = {}) {
      if (typeof page === 'string') writeFileSync(join(folder, 'index.html'), page)
      const target: Asked = typeof page === 'string' ? { path: 'index.html' } : page
      const program = options.chrome ?? chrome
      const limits = { timeoutMs, ...(program !== undefined && { chrome: program }) }
      return await checkBrowser({ kind: 'browser', ...target, ...rest }, context, limits, options.signal ?? new AbortController().signal)
    },
    async listen(listener) {
      const server = createServer(listener)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
  }
}

/** Living processes of browsers that this process started, or whose browser has ended without them. */
export function livingBrowsers(like = 'chrom'): string[] {
  const living = listPids().flatMap((pid) => readProcess(pid) ?? [])
  const entries = new Map(living.filter(({ zombie }) => !zombie).map((entry) => [entry.pid, entry]))
  const isOurs = ({ parent }: ProcessEntry): boolean => {
    const above = entries.get(parent)
    return parent === process.pid || (above !== undefined && isOurs(above))
  }
  return [...entries.values()].flatMap((entry) => {
    const command = commandOf(entry.pid)
    return command.includes(like) && (isOurs(entry) || !entries.has(entry.group)) ? [`${entry.pid}: ${command.slice(0, 80)}`] : []
  })
}

/** Empty where it has ended meanwhile or is somebody else's. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return ''
  }
}

/** A page with nothing wrong, and something put into it. */
export function page(inside = '', head = ''): string {
  const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
  const opening = `<head><meta charset="utf-8"><title>Page</title>${viewport}${head}</head>`
  return `<!doctype html><html lang="en">${opening}<body><main><h1>Hello</h1><p>Words.</p>${inside}</main></body></html>`
}
