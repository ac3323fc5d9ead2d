/**
 * Drives the real command-line agents as workers and as judges, held by the hook and over MCP, against a model on loopback: `npm run e2e:agents [-- --agents <folder> --only claude,codex --roles hook,mcp]`.
 * Without `--agents` they are installed into a temporary folder (about 1.5 GB). No key is needed; npm has to reach its registry.
 */
import { rmSync } from 'node:fs'
import { mkdtemp, mkdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { assayIn, git, stageRepository } from '../../examples/failing-test/rehearse.ts'
import type { AgentName } from '../../src/testing/agents/stand-in.ts'
import { puppet } from '../../src/testing/model-server/puppet.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'
import { leftBehind, makeHome } from './home.ts'
import { headless, heldByHook } from './hooks.ts'
import { install, packages } from './install.ts'
import { throughMcp } from './mcp.ts'
import { missIn, type Notes, type Scenario, scenarios, timeOf, type Trace, watched } from './scenarios.ts'

const { values: flags } = parseArgs({ options: { agents: { type: 'string' }, only: { type: 'string' }, roles: { type: 'string' } } })
const isWanted = (role: string) => flags.roles?.split(',').includes(role) ?? true
const chosen = (Object.keys(packages) as AgentName[]).filter((agent) => flags.only?.split(',').includes(agent) ?? true)
const root = await realpath(await mkdtemp(join(tmpdir(), 'assay-e2e-')))
const programs = flags.agents === undefined ? join(root, 'agents') : resolve(flags.agents)

// Interrupted or not, nothing stays behind.
process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** One scenario with one agent, in a repository of its own. */
async function rehearse(
  agent: AgentName,
  scenario: Scenario,
  server: ModelServer,
  account: Record<string, string>,
): Promise<string | undefined> {
  const stage = await mkdtemp(join(root, `${agent}-`))
  const folder = join(stage, 'repository')
  await mkdir(join(stage, 'tmp'))
  const env = { ...account, PATH: `${join(programs, 'bin')}:${process.env.PATH ?? ''}`, TMPDIR: join(stage, 'tmp'), LANG: 'C.UTF-8' }
  const model = { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible') }
  const own = { kind: 'agent', agent, timeout: timeOf(scenario) }
  const brains =
    scenario.role === 'worker' ? { hands: own, eyes: { ...model, model: 'judge' } } : { hands: { ...model, model: 'worker' }, eyes: own }
  const notes: Notes = { asked: { worker: 0, judge: 0 }, seen: [] }
  server.play(puppet(watched(scenario.play, notes)))
  const rehearsal = { folder, env }
  try {
    await stageRepository(rehearsal, { brains, ...scenario.settings })
    const ran = await assayIn(rehearsal, ['run', 'mission.yaml'], scenario.stopAt)
    const { stdout } = await assayIn(rehearsal, ['audit', '--all', '--json'])
    const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Trace['events'][number]]))
    if (events.length === 0) return `assay ended with ${ran.code}: ${ran.stderr.replaceAll(/\s+/g, ' ').slice(0, 500)}`
    const kept = await leftBehind(account.HOME ?? '')
    if (kept !== undefined) return `it keeps what it was told in ${kept}`
    const commits = await git(rehearsal, 'branch', '--list', 'assay/*/result', '--format=%(contents:subject)')
    return missIn(scenario, { ...notes, events, commits })
  } finally {
    await rm(stage, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The agent on its own, in a folder and with an account of its own. */
async function alone(
  agent: AgentName,
  server: ModelServer,
  play: (stage: string, env: Record<string, string>) => Promise<string | undefined>,
): Promise<string | undefined> {
  const stage = await mkdtemp(join(root, `${agent}-alone-`))
  await mkdir(join(stage, 'tmp'))
  const account = await makeHome(join(stage, 'home'), new URL(server.baseURL('openai')).origin)
  const env = { ...account, PATH: `${join(programs, 'bin')}:${process.env.PATH ?? ''}`, TMPDIR: join(stage, 'tmp'), LANG: 'C.UTF-8' }
  try {
    return await play(stage, env)
  } finally {
    await rm(stage, { recursive: true, force: true, maxRetries: 5 })
  }
}

type Row = [agent: string, version: string, role: string, scenario: string, result: string, seconds: string]

async function audition(agent: AgentName): Promise<Row[]> {
  const installed = await install(agent, programs)
  if (!installed.ok) return [[agent, packages[agent].version, '', 'cannot be installed', `MISS: ${installed.why}`, '']]
  const server = await startModelServer(() => {
    throw new Error('nothing is played yet')
  })
  const account = await makeHome(join(root, `home-${agent}`), new URL(server.baseURL('openai')).origin)
  const rows: Row[] = []
  try {
    const record = async (role: string, name: string, play: () => Promise<string | undefined>) => {
      if (!isWanted(role)) return
      const began = performance.now()
      const miss = await play()
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      rows.push([agent, installed.version, role, name, miss === undefined ? 'ok' : `MISS: ${miss}`, seconds])
      console.error(rows.at(-1)?.join(' | '))
    }
    for (const scenario of scenarios) await record(scenario.role, scenario.name, () => rehearse(agent, scenario, server, account))
    if (headless[agent])
      await record('hook', 'says done too early, is held, mends it, is let go', () =>
        alone(agent, server, (stage, env) => heldByHook(agent, stage, env, server)),
      )
    await record('mcp', 'takes its task, is rejected with feedback, reworks, is accepted', () =>
      alone(agent, server, (stage, env) => throughMcp(agent, stage, env, server)),
    )
  } finally {
    await server.close()
  }
  return rows
}

function print(rows: readonly Row[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.split(':')[0]?.length ?? 0))) ?? []
  const line = (row: Row) => row.map((cell, column) => (cell.split(':')[0] ?? '').padEnd(widths[column] ?? 0)).join('  ')
  for (const row of rows) console.log(line(row).trimEnd())
  for (const [agent, , role, scenario, result] of rows.slice(1))
    if (result !== 'ok') console.log(`${agent} as ${role}, ${scenario}: ${result}`)
}

const rows: Row[] = []
for (const agent of chosen) rows.push(...(await audition(agent)))
print([['agent', 'version', 'role', 'scenario', 'result', 'seconds'], ...rows])
if (rows.length === 0 || rows.some(([, , , , result]) => result !== 'ok')) process.exitCode = 1
