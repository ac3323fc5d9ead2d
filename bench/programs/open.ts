import { type ChildProcess, execFile, fork } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { outside } from '../../scripts/bundle.ts'

/** Programs of this folder, bundled as the published package is; each run has a process and a folder of its own. */
export interface Programs {
  /** Folder that is gone when they are closed. */
  root: string
  /** Runs a program to its end: `<program> <folder> <question as JSON>`. What it prints is its answer, as JSON. */
  ask<T>(program: string, question: object): Promise<T>
  /** Starts one that goes on until `close`; it talks by messages. */
  start(program: string): ChildProcess
  close(): void
}

/** Bundled, because type stripping at run time would make a process larger than it is when shipped, and every spawn slower. */
export async function openPrograms(names: readonly string[], dir = tmpdir()): Promise<Programs> {
  const root = mkdtempSync(join(dir, 'assay-bench-'))
  const started: ChildProcess[] = []
  const entries = names.map((name) => [name, join(import.meta.dirname, `${name}.ts`)])
  const bundle = await rolldown({ input: Object.fromEntries(entries), platform: 'node', external: [...outside(), 'ai'] })
  await bundle.write({ dir: root, format: 'esm', entryFileNames: '[name].mjs' })
  await bundle.close()
  // What stays outside the bundle is found here.
  symlinkSync(join(import.meta.dirname, '..', '..', 'node_modules'), join(root, 'node_modules'))
  const file = (name: string) => join(root, `${name}.mjs`)
  return {
    root,
    async ask(program, question) {
      // Beside the programs, not in there: what they load would be packages that are installed for the project.
      const folder = mkdtempSync(join(dir, 'assay-bench-run-'))
      try {
        const { stdout } = await promisify(execFile)(process.execPath, [file(program), folder, JSON.stringify(question)])
        return JSON.parse(stdout)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    start(program) {
      const child = fork(file(program), { execArgv: [] })
      started.push(child)
      return child
    },
    close() {
      for (const child of started) child.kill()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
