import { readFileSync } from 'node:fs'
import type { App } from './doors/cli/app.ts'
import { runCli } from './doors/cli/program.ts'

/** Runs one command line and resolves with its exit code. What commands need is loaded when they run, so that start-up stays small. */
export function main(argv: readonly string[]): Promise<number> {
  return runCli(argv, app, { stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd() })
}

const app: App = {
  get version() {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    return (JSON.parse(manifest) as { version: string }).version
  },
  async problems(place) {
    const { brainProblems } = await import('./main/brains.ts')
    return brainProblems(place)
  },
  async open(place) {
    const { openEngine } = await import('./main/open-engine.ts')
    return openEngine(place)
  },
  async openNotifier(channel) {
    const { openNotifier } = await import('./adapters/notify/open.ts')
    return openNotifier(channel, { env: process.env, stderr: process.stderr })
  },
  async authority({ env, stdout, stderr }) {
    const { ownerAuthority } = await import('./main/authority.ts')
    return ownerAuthority({ env, person: process.stdin.isTTY === true && (stdout.isTTY === true || stderr.isTTY === true) })
  },
  async subject(request, engine) {
    const { readSubject } = await import('./main/subjects/subjects.ts')
    return readSubject(request, engine)
  },
}
