import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { argue, judge as judgeOfExample, mend } from '../../examples/failing-test/play.ts'
import { assayIn, git, type Rehearsal, stageRepository } from '../../examples/failing-test/rehearse.ts'
import type { AgentName } from '../../src/testing/agents/stand-in.ts'
import { type Answer, failure, say, use } from '../../src/testing/model-server/answers.ts'
import { type Cue, puppet, shell } from '../../src/testing/model-server/puppet.ts'
import { callsMade, saidSinceLastCall } from '../../src/testing/model-server/request.ts'
import type { ModelServer } from '../../src/testing/model-server/server.ts'
import { withAssay } from './home.ts'
import { bothRounds, type Trace } from './scenarios.ts'

const run = promisify(execFile)

/** Variable with the key of the model that judges. */
const key = 'JUDGES_API_KEY'
const secret = 'of-the-judges'
const setting = (text: string): string[] => ['-c', `mcp_servers.assay.${text}`]

/** How a person puts the server into the agent's settings, and how the agent is asked to work with it. */
const clients: Record<AgentName, { add(server: string[]): string[]; ask(prompt: string): string[] }> = {
  claude: {
    add: (server) => ['mcp', 'add', 'assay', '--', ...server],
    ask: (prompt) => ['-p', prompt, '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,Edit,Write,mcp__assay'],
  },
  codex: {
    add: (server) => ['mcp', 'add', 'assay', '--', ...server],
    // Without the first it may ask its model before the server is up; without the second the server lacks the judges' key.
    ask: (prompt) => ['exec', '-s', 'danger-full-access', ...setting('required=true'), ...setting(`env_vars=["${key}"]`), prompt],
  },
  gemini: {
    // It hides keys from servers, too, but puts in what is named so.
    add: (server) => ['mcp', 'add', '--scope', 'user', '--env', `${key}=$${key}`, 'assay', ...server],
    ask: (prompt) => ['-p', prompt, '--approval-mode', 'yolo', '--skip-trust'],
  },
  opencode: {
    add: (server) => ['mcp', 'add', 'assay', '--', ...server],
    ask: (prompt) => ['run', '--auto', prompt],
  },
}

/** What the agent was answered by Assay's tools, by their names. */
type Heard = Map<string, string[]>

/** Takes the task, works in its folder, hands in its case and asks for the review, until the work is accepted. */
function worker(cue: Cue, heard: Heard): Answer {
  const calls = callsMade(cue.request).filter((name) => name !== search)
  const last = ownName(calls.at(-1) ?? '')
  const said = saidSinceLastCall(cue.request)
  if (last !== undefined) heard.set(last, [...(heard.get(last) ?? []), said])
  const task = valueIn(cue.told, 'id')
  const attempt = Number(valueIn(cue.told, 'attempt'))
  if (calls.length === 0) return call(cue, 'list_tasks', {})
  if (last === 'list_tasks') return call(cue, 'take_task', { task })
  if (last === 'take_task') return shell(cue, `cd '${valueIn(said, 'workspace')}' || exit\n${mend(attempt)}`)
  if (last === 'submit_case') return call(cue, 'get_review', { task })
  if (last === undefined) return call(cue, 'submit_case', { task, attempt, ...argue(attempt) })
  const phase = valueIn(said, 'phase')
  if (phase === 'reviewing') return call(cue, 'get_review', { task })
  return phase === 'rejected' ? call(cue, 'take_task', { task }) : say(`It is ${phase}.`)
}

/** Judges whom the server could not give their key are not heard. */
function judge(cue: Cue): Answer {
  return cue.request.headers.authorization === `Bearer ${secret}` ? judgeOfExample(cue) : failure(401, {}, 'no key came along')
}

const used = ['list_tasks', 'take_task', 'submit_case', 'get_review']

/** Agents put a name of their own before that of a server's tool. */
const ownName = (name: string): string | undefined =>
  used.find((own) => name === own || (/[_.]$/.test(name.slice(0, -own.length)) && name.endsWith(own)))

/** Claude shows a server's tools only to a model that looks for them. */
const search = 'ToolSearch'

function call({ request }: Cue, own: string, args: object): Answer {
  const name = request.tools.find((one) => ownName(one) === own)
  if (name === undefined && request.tools.includes(search)) return use(search, { query: `select:mcp__assay__${own}`, max_results: 5 })
  if (name === undefined) throw new Error(`no ${own} among ${request.tools.join(', ')}`)
  return use(name, args)
}

/** The last value of that name in answers, which agents pass on as text, and some as text within text. */
function valueIn(text: string, name: string): string | undefined {
  return [...text.matchAll(new RegExp(`"${name}\\\\*":\\s*(?:\\\\*")?([^"\\\\,}]+)`, 'g'))].at(-1)?.[1]
}

/** The agent on its own, with Assay's MCP server in its settings, does a task that waits for it. Says what was otherwise. */
export async function throughMcp(
  agent: AgentName,
  stage: string,
  env: Record<string, string>,
  server: ModelServer,
): Promise<string | undefined> {
  const rehearsal: Rehearsal = { folder: join(stage, 'repository'), env: await withAssay(stage, { ...env, [key]: secret }) }
  const heard: Heard = new Map()
  server.play(puppet({ worker: (cue) => worker(cue, heard), judge }))
  const eyes = {
    kind: 'model',
    provider: 'openai-compatible',
    baseURL: server.baseURL('openai-compatible'),
    model: 'judge',
    apiKeyEnv: key,
  }
  await stageRepository(rehearsal, { brains: { hands: { kind: 'outside' }, eyes } })
  const begun = await assayIn(rehearsal, ['run', 'mission.yaml'])
  if (begun.code !== 3) return `assay run ended with ${begun.code}: ${begun.stderr.slice(-400)}`
  const { add, ask } = clients[agent]
  for (const words of [
    add(['assay', 'mcp', '--role', 'worker', '--agent', 'dev']),
    ask('Do the task that Assay has for you, with its tools, until it is accepted.'),
  ]) {
    const failed = await agentIn(rehearsal, agent, words)
    if (failed !== undefined) return failed
  }
  return missIn(rehearsal, heard)
}

async function agentIn({ folder, env }: Rehearsal, agent: AgentName, words: string[]): Promise<string | undefined> {
  const asked = run(agent, words, { cwd: folder, env, timeout: 480_000, maxBuffer: 64 * 1024 * 1024 })
  asked.child.stdin?.end()
  return asked.then(
    () => undefined,
    (error: Error & { stderr?: string }) => `${agent} ${words[0]} failed: ${(error.stderr || error.message).slice(-400)}`,
  )
}

async function missIn(rehearsal: Rehearsal, heard: Heard): Promise<string | undefined> {
  const unheard = used.find((name) => !heard.has(name))
  if (unheard !== undefined) return `${unheard} was never called; heard: ${[...heard.values()].flat().join('; ').slice(-400)}`
  if (!heard.get('get_review')?.some((said) => said.includes('Use assert.throws'))) return 'the feedback did not reach the agent'
  const { stdout } = await assayIn(rehearsal, ['audit', '--all', '--json'])
  const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Trace['events'][number]]))
  const commits = await git(rehearsal, 'branch', '--list', 'assay/*/result', '--format=%(contents:subject)')
  const judges = new Set(events.flatMap(({ type, data }) => (type === 'seat.asked' ? [String(data.judge)] : [])))
  if (judges.size < 2 || judges.has('dev')) return `judged by ${[...judges].join(', ') || 'nobody'}`
  const verified = await assayIn(rehearsal, ['audit', 'verify'])
  if (verified.code !== 0) return `the journal does not verify: ${verified.stdout.slice(-200)}`
  return bothRounds({ events, commits })
}
