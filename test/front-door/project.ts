import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import type { StoredEvent } from '../../src/contract/events/envelope.ts'
import { type Ended, type Running, type StartOptions, startAssay, writeFiles } from './assay.ts'
import { readEvents } from './journal.ts'
import { endAllOf } from './processes.ts'

type Start = Omit<StartOptions, 'cwd'>

/** A folder with a configuration, missions and programs, and `assay` run in it. Everything in it is gone after the test. */
export interface Project {
  folder: string
  /** A file that sandboxed programs may write too; for counting what they do. */
  log(name: string): string
  /** Lines of such a file, none where nobody wrote it. */
  logged(name: string): string[]
  write(files: Record<string, string | object>): void
  read(path: string): string
  has(path: string): boolean
  start(args: readonly string[], options?: Start): Running
  run(args: readonly string[], options?: Start): Promise<Ended>
  /** The same with the owner's token. */
  asOwner(args: readonly string[]): Promise<Ended>
  /** What a command says with `--json`, line by line. */
  json<T = Record<string, unknown>>(args: readonly string[], options?: Start): Promise<{ code: number | null; lines: T[]; stderr: string }>
  /** Every event of the journal. */
  events(): Promise<StoredEvent[]>
}

/** Objects are written as YAML. */
export function makeProject(files: Record<string, string | object> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay project-')))
  onTestFinished(async () => {
    await endAllOf(folder)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const project: Project = {
    folder,
    log: (name) => join(folder, 'tmp', name),
    logged: (name) => (existsSync(project.log(name)) ? readFileSync(project.log(name), 'utf8').split('\n').slice(0, -1) : []),
    write: (more) => {
      const texts = Object.entries(more).map(([path, content]) => [path, typeof content === 'string' ? content : stringify(content)])
      writeFiles(folder, Object.fromEntries(texts))
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    has: (path) => existsSync(join(folder, path)),
    start: (args, options = {}) => startAssay(args, { cwd: folder, ...options }),
    run: (args, options) => project.start(args, options).ended,
    asOwner: (args) => project.run(args, { env: { ASSAY_OWNER_TOKEN: 'the owner of the test' } }),
    json: async (args, options) => {
      const { code, stdout, stderr } = await project.run([...args, '--json'], options)
      return { code, lines: parseLines(stdout), stderr }
    },
    events: () => readEvents(folder),
  }
  project.write({ '.config/assay/owner-token': 'the owner of the test\n', ...files })
  return project
}

/** Every line must be JSON: one that is not fails the test. */
export function parseLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}
