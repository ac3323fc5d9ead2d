import { readFileSync } from 'node:fs'
import type { App } from './doors/cli/app.ts'

/** Runs one command line and resolves with its exit code. What commands need is loaded when they run, so that start-up stays small. */
export async function main(argv: readonly string[]): Promise<number> {
  const known = argv[0] === 'hook' ? await knownAtOnce(argv) : undefined
  if (known !== undefined) {
    process.stdout.write(`${known}\n`)
    return 0
  }
  const { runCli } = await import('./doors/cli/program.ts')
  return runCli(argv, app, { stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd() })
}

/** A coding agent waits for its hook at every end of a turn, most of which bring nothing new. */
async function knownAtOnce([, flag, agent, ...more]: readonly string[]): Promise<string | undefined> {
  if (flag !== '--agent' || agent === undefined || more.length > 0) return undefined
  const [{ hookInput }, { knownAnswer }] = await Promise.all([import('./main/hook/input.ts'), import('./main/hook/known.ts')])
  return knownAnswer({ agent, input: await hookInput(), cwd: process.cwd(), env: process.env })
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
    if (place.create) (await import('./main/heap.ts')).keepHeapSmall()
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
  async keeping({ env }) {
    const { openKeeping } = await import('./main/keeping.ts')
    return openKeeping(env)
  },
  async subject(request, engine) {
    const { readSubject } = await import('./main/subjects/subjects.ts')
    return readSubject(request, engine)
  },
  async digestNow(source, engine) {
    const { digestNow } = await import('./main/subjects/subjects.ts')
    return digestNow(source, engine)
  },
  async serve(request, engine) {
    const { startServing } = await import('./main/serve/serve.ts')
    return startServing(request, engine)
  },
  async reviewerToken(agent, { env }) {
    const { reviewerToken } = await import('./main/authority.ts')
    return reviewerToken(env, agent)
  },
  async mcp(request, open, authority) {
    const { serveMcp } = await import('./main/mcp/stdio.ts')
    return serveMcp(request, open, authority)
  },
  async survey(terminal) {
    const { surveyPlace } = await import('./main/init/survey.ts')
    return surveyPlace(terminal)
  },
  async ask(question, terminal) {
    const { askPerson } = await import('./main/init/ask.ts')
    return askPerson(question, terminal)
  },
  async hook(request) {
    const { changeHook } = await import('./main/hook/install.ts')
    return changeHook(request, process.env)
  },
  async hookInput() {
    const { hookInput } = await import('./main/hook/input.ts')
    return hookInput()
  },
  async answerHook(question) {
    const { answerHook } = await import('./main/hook/answer.ts')
    return answerHook(question)
  },
  async *diagnose(request) {
    const { diagnose } = await import('./main/doctor/diagnose.ts')
    yield* diagnose(request)
  },
}
