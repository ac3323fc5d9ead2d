/** How long a short command takes, next to the bare Node that runs it. Run: `npx node bench/startup.ts [--size small|full]`. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median, printTable, ratio } from './measure.ts'

const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const rounds = flags.size === 'small' ? 9 : 41
const repository = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-'))

const packed = join(folder, 'package')
const assay = join(packed, 'bin', 'assay.mjs')
const project = join(folder, 'project')

function node(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: input ?? '', cwd: folder })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

/** A repository with a change that its judge has passed, so that the hook has nothing left to ask. */
function judgedProject(): string {
  mkdirSync(project)
  const config = {
    brains: { canned: { kind: 'scripted', file: 'brain.json' }, away: { kind: 'outside' } },
    agents: { qa: { role: 'reviewer', brain: 'canned' }, dev: { role: 'engineer', brain: 'away' } },
    review: { panel: { size: 1, quorum: 1 } },
  }
  writeFileSync(join(project, 'assay.yaml'), JSON.stringify(config))
  writeFileSync(join(project, 'brain.json'), JSON.stringify({ judges: { '*': [{ accept: true, scores: 4 }] } }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', ...args], { cwd: project, stdio: 'pipe' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'begin')
  const start = { hook_event_name: 'SessionStart', session_id: 'bench', cwd: project, source: 'startup' }
  node([assay, 'hook', '--agent', 'claude'], JSON.stringify(start))
  writeFileSync(join(project, 'work.js'), 'export const total = 1\n')
  const stop = JSON.stringify({ hook_event_name: 'Stop', session_id: 'bench', cwd: project, last_assistant_message: 'Done.' })
  const answer = node([assay, 'hook', '--agent', 'claude'], stop)
  if (!answer.includes('PASS')) throw new Error(`the hook answered ${answer}`)
  return stop
}

/** From the start of the server to its answer to the client's first word. */
async function mcpReady(): Promise<number> {
  const start = performance.now()
  const child = spawn(process.execPath, [assay, 'mcp', '--role', 'worker', '--agent', 'dev'], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
  const [first] = (await once(child.stdout, 'data')) as [Buffer]
  const ms = performance.now() - start
  if (!first.toString().includes('serverInfo')) throw new Error(`the server answered ${first}`)
  child.stdin.end()
  await once(child, 'exit')
  return ms
}

try {
  node([join(repository, 'scripts', 'build.ts'), '--out', packed])
  symlinkSync(join(repository, 'node_modules'), join(packed, 'node_modules'))
  writeFileSync(join(folder, 'nothing.mjs'), '')
  writeFileSync(join(folder, 'print.mjs'), "console.log('help')\n")
  const stop = judgedProject()
  const timed = (args: string[], input?: string) => () => {
    const start = performance.now()
    node(args, input)
    return performance.now() - start
  }
  const contenders: [string, () => number | Promise<number>][] = [
    ['floor: Node with an empty module', timed([join(folder, 'nothing.mjs')])],
    ['Node that prints a line', timed([join(folder, 'print.mjs')])],
    ['packed: assay --help (goal: ≤ 1.5 ×)', timed([assay, '--help'])],
    ['packed: assay config --explain', timed([assay, 'config', '--explain'])],
    ['packed: assay hook, verdict known (goal: ≤ 2 ×)', timed([assay, 'hook', '--agent', 'claude'], stop)],
    ['packed: assay mcp until it answers (goal: ≤ 1,000 ms)', mcpReady],
    ['repository: assay --help', timed([join(repository, 'bin', 'assay.mjs'), '--help'])],
  ]
  const times = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, [, measure]] of contenders.entries()) times[index]?.push(await measure())
  }
  const [base = []] = times
  const fastest = (all: number[]) => Math.min(...all)
  printTable(
    `Start-up, ${rounds} rounds in turns`,
    ['', 'median ms', 'against floor', 'fastest ms', 'against floor'],
    contenders.map(([name], index) => {
      const own = times[index] ?? []
      return [name, median(own), ratio(median(own), median(base)), fastest(own), ratio(fastest(own), fastest(base))]
    }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
