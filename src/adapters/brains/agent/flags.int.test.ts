import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Brains } from '../../../contract/agent.ts'
import { sandboxState } from '../../process/sandbox.ts'
import { knownAgents } from './brain.ts'
import { type AgentName, openStage, type Stage } from '../../../testing/agents/stand-in.ts'

const guide = readFileSync(new URL('../../../../docs/guides/agents.md', import.meta.url), 'utf8')
const sandbox = await sandboxState()
let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

async function started(agent: AgentName, role: 'work' | 'judge', model?: string) {
  stage.cast(agent, {})
  await stage[role](agent, model === undefined ? {} : { brain: { kind: 'agent', agent, model } })
  return stage.given()
}

describe('flags, exactly', () => {
  it('claude', async () => {
    const shared = ['-p', '--output-format', 'json', '--no-session-persistence', '--permission-prompts', 'none']
    expect((await started('claude', 'work', 'opus')).args).toEqual([
      ...[...shared, '--model', 'opus', '--permission-mode', 'acceptEdits'],
      ...['--allowedTools', 'Bash,Edit,Write,NotebookEdit,Read,Grep,Glob'],
    ])
    const judged = await started('claude', 'judge')
    expect(judged.args.slice(0, -1)).toEqual([
      ...[...shared, '--safe-mode', '--restricted', '--strict-mcp-config', '--tools', 'Read,Grep,Glob', '--json-schema'],
    ])
    expect(JSON.parse(judged.args.at(-1) ?? '')).toMatchObject({ type: 'object', additionalProperties: false })
    expect(judged.env).toMatchObject({ ANTHROPIC_API_KEY: 'key-7' })
  })

  it('codex', async () => {
    const shared = ['exec', '--json', '--ephemeral', '--skip-git-repo-check', '--color', 'never']
    const rights = sandbox.usable ? 'danger-full-access' : 'workspace-write'
    expect((await started('codex', 'work', 'gpt-5.2')).args).toEqual([...shared, '-m', 'gpt-5.2', '-s', rights, '-'])
    const { args } = await started('codex', 'judge')
    expect(args.slice(0, -2)).toEqual([...shared, '-s', 'read-only', '--ignore-rules', '-c', 'project_doc_max_bytes=0', '--output-schema'])
    expect(args.slice(-2)).toEqual([expect.stringMatching(/verdict-schema\.json$/), '-'])
  })

  it('gemini, which judges outside the work because it would obey it', async () => {
    const worker = await started('gemini', 'work', 'pro')
    expect(worker.args).toEqual(['-o', 'json', '--skip-trust', '-m', 'pro', '--approval-mode', 'yolo'])
    expect(worker.cwd).toBe(stage.workspace)
    const judged = await started('gemini', 'judge')
    expect(judged.args).toEqual([
      ...['-o', 'json', '--skip-trust', '--approval-mode', 'plan'],
      ...['--extensions', 'none', '--include-directories', stage.workspace],
    ])
    expect(judged.cwd).not.toBe(stage.workspace)
  })

  it('opencode, whose memory is private', async () => {
    const worker = await started('opencode', 'work')
    expect(worker.args).toEqual(['run', '--format', 'json', '--auto'])
    expect(worker.env.OPENCODE_DB).toContain(join(stage.home, '..', 'notes'))
    const judged = await started('opencode', 'judge')
    expect(judged.args).toEqual(['run', '--format', 'json', '--pure', '--agent', 'plan'])
    expect(judged.env).toMatchObject({
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_PERMISSION: expect.stringContaining('"bash":"deny"'),
    })
  })

  it('variables that the brain names are passed on, but for those that are never', async () => {
    stage.cast('codex', {})
    const env = {
      PATH: `${stage.bin}:/usr/bin:/bin`,
      HOME: stage.home,
      MY_KEY: 'mine-7',
      NODE_OPTIONS: '',
    }
    await stage.work('codex', { env, brain: { kind: 'agent', agent: 'codex', env: ['MY_KEY'] } })
    expect(stage.given().env).toMatchObject({ MY_KEY: 'mine-7' })
    expect(await stage.work('codex', { env, brain: { kind: 'agent', agent: 'codex', env: ['NODE_OPTIONS'] } })).toMatchObject({
      kind: 'failed',
      beforeEffect: true,
      detail: expect.stringContaining('NODE_OPTIONS is never passed'),
    })
  })
})

it('the guide configures brains that exist', () => {
  const { brains } = parse(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? '') as { brains: unknown }
  expect(Object.values(Brains.parse(brains)).map((brain) => brain.kind === 'agent' && brain.agent)).toEqual(Object.keys(knownAgents))
})

it('the guide names every file of a login, with what comes back of it, and every file that a run gets a copy of', () => {
  for (const { keeps, copies = [] } of Object.values(knownAgents))
    for (const name of [...copies, ...keeps.flatMap(({ login = {}, copies: own = [] }) => [...Object.keys(login), ...own])])
      expect(guide).toContain(name === '.claude.json' ? '`~/.claude.json`' : `\`${name}\``)
})

it('the guide names every flag that decides what an agent may do', () => {
  for (const flag of [
    '--safe-mode',
    '--restricted',
    '-s read-only',
    '--approval-mode plan',
    '--agent plan',
    '--approval-mode yolo',
    '--auto',
    'danger-full-access',
  ])
    expect(guide).toContain(flag)
})
