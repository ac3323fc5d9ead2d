import { chmodSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accept, failure, say } from '../src/testing/model-server/answers.ts'
import { type Script, startModelServer } from '../src/testing/model-server/server.ts'
import { agentless, withClaude } from './front-door/agents.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

interface Finding {
  kind: string
  id: string
  state: 'ok' | 'bad' | 'none'
  detail: string
  fix?: string
}

/** What the doctor says, by name; several findings of one name are joined. */
async function examine(project: Project, args: string[] = [], options: Parameters<Project['json']>[1] = {}) {
  const env = { PATH: agentless, ...options.env }
  const { code, lines, stderr } = await project.json<Finding>(['doctor', ...args], { ...options, env })
  expect(lines.at(-1), stderr).toMatchObject({ kind: 'doctor', ok: code === 0 })
  const found: Record<string, string> = {}
  for (const { id, state, detail } of lines.slice(0, -1))
    found[id] = `${found[id] === undefined ? '' : `${found[id]}\n`}${state}: ${detail}`
  return { code, found, lines }
}

/** A project whose one task was accepted. */
async function ran(): Promise<Project> {
  const project = oneTask({ worker: 'echo x > a.txt' })
  chmodSync(join(project.folder, '.config/assay/owner-token'), 0o600)
  const { code, stderr } = await project.run(['run', 'm.yaml'])
  expect(code, stderr).toBe(0)
  return project
}

function edit(project: Project, statement: string): void {
  const database = new DatabaseSync(join(project.folder, '.assay', 'assay.db'))
  const { changes } = database.prepare(statement).run()
  database.close()
  expect(Number(changes)).toBeGreaterThan(0)
}

describe('assay doctor', () => {
  it('finds nothing wrong where nothing is', { timeout }, async () => {
    const project = await ran()
    const { code, found } = await examine(project)
    expect(code, JSON.stringify(found)).toBe(0)
    for (const id of [
      'node',
      'sqlite',
      'git',
      'configuration',
      'brains',
      'owner',
      'journal',
      'views',
      'snapshots',
      'notifications',
      'clock',
    ])
      expect(found[id], id).toMatch(/^ok: /)
    expect(found['judge.eyes']).toBe('none: not asked')
    expect(found['agent.claude']).toMatch(/^none: claude is not found/)
    const text = await project.run(['doctor'])
    expect(text.stdout).toMatch(/^✔ node {13}Node \d/m)
    expect(text.stdout).toMatch(/^– judge\.eyes {7}not asked\n {19}→ assay doctor --ping$/m)
  })

  it('works in an empty folder, and changes nothing in it', { timeout }, async () => {
    const project = makeProject()
    chmodSync(join(project.folder, '.config/assay/owner-token'), 0o600)
    const { code, found } = await examine(project)
    expect(code, JSON.stringify(found)).toBe(0)
    expect(found.configuration).toMatch(/^none: no assay\.yaml/)
    expect(found.journal).toMatch(/^none: /)
    expect(project.has('.assay')).toBe(false)
  })

  it('tells a configuration that does not load, with every problem', { timeout }, async () => {
    const project = makeProject({ 'assay.yaml': 'reviews: {}\nconcurrency: 0\n' })
    const { code, found } = await examine(project)
    expect(code).toBe(1)
    expect(found.configuration?.split('\n')).toEqual([
      expect.stringMatching(/^bad: assay\.yaml:1:1/),
      expect.stringMatching(/^bad: assay\.yaml:2/),
    ])
    expect(found.journal).toMatch(/^none: not looked at/)
  })

  it('names the versions of agents, and misses those that are configured', { timeout }, async () => {
    const agents = { dev: { role: 'engineer', brain: 'one' }, qa: { role: 'reviewer', brain: 'two' } }
    const brains = { one: { kind: 'agent', agent: 'claude' }, two: { kind: 'agent', agent: 'codex' } }
    const project = makeProject({ 'assay.yaml': { brains, agents } })
    const { code, found, lines } = await examine(project, [], { env: withClaude() })
    expect(code).toBe(1)
    expect(found['agent.claude']).toBe('ok: 2.1.325 (stand-in)')
    expect(found['agent.codex']).toMatch(/^bad: .*the configuration needs it/)
    expect(lines.find(({ id }) => id === 'agent.codex')?.fix).toMatch(/^npm install/)
    expect(found['agent.gemini']).toMatch(/^none: /)
  })

  it('names keys and never their values', { timeout }, async () => {
    const brains = { judge: { kind: 'model', provider: 'anthropic', model: 'm', apiKeyEnv: 'MY_KEY' } }
    const project = makeProject({ 'assay.yaml': { brains, agents: { qa: { role: 'reviewer', brain: 'judge' } } } })
    const without = await examine(project)
    expect(without.found.brains).toMatch(/^bad: .*MY_KEY is not set/)
    const { found, lines } = await examine(project, [], { env: { MY_KEY: 'sk-canary-4711' } })
    expect(found.keys).toBe('ok: set: MY_KEY')
    expect(found.brains).toMatch(/^ok: /)
    expect(JSON.stringify(lines)).not.toContain('canary')
  })

  it('sees a token that others may read', { timeout }, async () => {
    const project = makeProject()
    const token = join(project.folder, '.config/assay/owner-token')
    chmodSync(token, 0o644)
    const { code, lines } = await examine(project)
    expect(code).toBe(1)
    expect(lines.find(({ id }) => id === 'owner')).toMatchObject({ state: 'bad', fix: `chmod 600 ${token}` })
    expect(statSync(token).mode & 0o777).toBe(0o644)
  })
})

describe('the journal under the doctor', () => {
  it('has views that are rebuilt on demand, and a row that differed is an error', { timeout }, async () => {
    const project = await ran()
    edit(project, `UPDATE view_rows SET row = replace(row, '"done"', '"failed"') WHERE view = 'tasks'`)
    const first = await examine(project)
    expect(first.code).toBe(1)
    expect(first.found.views).toMatch(/^bad: 1 row differed \(tasks m-1\/a\)/)
    expect(first.lines.find(({ id }) => id === 'views')?.fix).toBe('assay doctor --rebuild')
    const rebuilt = await examine(project, ['--rebuild'])
    expect(rebuilt.code).toBe(1)
    expect(rebuilt.found.views).toMatch(/^bad: rebuilt from the journal; before that, 1 row differed/)
    const after = await examine(project, ['--rebuild'])
    expect(after.found.views).toBe('ok: rebuilt from the journal, and no row differed')
    expect(after.code).toBe(0)
  })

  it('has a queue: work that somebody took out is named, and queued again on demand', { timeout }, async () => {
    const project = await ran()
    expect((await project.asOwner(['overrule', 'm-1/a', 'fail', '--reason', 'once more'])).code).toBe(0)
    edit(project, `DELETE FROM work WHERE kind = 'run_attempt'`)
    const first = await examine(project)
    expect(first.code).toBe(1)
    expect(first.found.work).toMatch(/^bad: task\/m-1\/a: the task is todo, but the queue has no work for it \(run_attempt\)/)
    expect(first.lines.find(({ id }) => id === 'work')?.fix).toBe('assay doctor --rebuild')
    expect((await project.run(['audit', 'verify'])).code).toBe(1)
    expect((await examine(project, ['--rebuild'])).found.work).toMatch(/^bad: queued again; before that, task\/m-1\/a/)
    expect((await examine(project)).found).not.toHaveProperty('work')
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    await project.run(['resume'])
    expect((await project.events()).filter(({ type }) => type === 'attempt.started').length).toBeGreaterThan(1)
  })

  it('has chains, snapshots and a clock that are looked at', { timeout }, async () => {
    const project = await ran()
    const early = `data:text/javascript,const now = Date.now; Date.now = () => now() - 3600_000`
    const late = await examine(project, [], { nodeFlags: ['--import', early] })
    expect(late.found.clock).toMatch(/^bad: .*but the journal has an event of/)
    project.write({ 'elsewhere/assay/owner-token': 'somebody else\n' })
    const stranger = await examine(project, [], { env: { XDG_CONFIG_HOME: join(project.folder, 'elsewhere') } })
    expect(stranger.found.owner).toMatch(/none: your token is not that of this journal's owner/)
    rmSync(join(project.folder, '.assay', 'objects'), { recursive: true, force: true })
    const emptied = await examine(project)
    expect(emptied.code).toBe(1)
    expect(emptied.found.snapshots).toMatch(/^bad: /)
    edit(project, `UPDATE events SET body = replace(body, 'Do it.', 'Do that') WHERE body LIKE '%Do it.%'`)
    const broken = await examine(project)
    expect(broken.code).toBe(1)
    expect(broken.found.journal).toMatch(/^bad: broken at task\/m-1\/a@1/)
  })

  it('tells of notifications that were given up', { timeout }, async () => {
    const project = oneTask({ worker: 'echo x > a.txt' })
    project.write({
      'assay.yaml': `${project.read('assay.yaml')}notify: { channels: { alerts: { kind: slack, urlEnv: NOT_SET } }, rules: [{ events: [task.accepted], channels: [alerts] }] }\n`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const { code, found, lines } = await examine(project)
    expect(code).toBe(1)
    expect(found.notifications).toMatch(/^bad: 1 was given up, the last on alerts .*NOT_SET is not set/)
    expect(lines.find(({ id }) => id === 'notifications')?.fix).toBe('assay notify test alerts')
  })
})

describe('--ping', () => {
  async function asked(script: Script) {
    const server = await startModelServer(script)
    onTestFinished(() => server.close())
    const brains = { judge: { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible'), model: 'any' } }
    const agents = { dev: { role: 'engineer', brain: 'judge' }, qa: { role: 'reviewer', brain: 'judge', instructions: 'Look.' } }
    const project = makeProject({ 'assay.yaml': { brains, agents, limits: { judgeRetries: 0 } } })
    const unasked = await examine(project)
    expect(unasked.found['judge.judge']).toBe('none: not asked')
    expect(server.requests).toHaveLength(0)
    const { found } = await examine(project, ['--ping'])
    expect(server.requests.length).toBeGreaterThan(0)
    return found['judge.judge']
  }

  it('asks every judge for real, and reads what it says', { timeout }, async () => {
    expect(await asked((request) => accept(request))).toMatch(/^ok: answers, and its verdict can be read \(\d+ tokens in, \d+ out\)$/)
  })

  it('tells one that cannot be reached from one that cannot be read', { timeout }, async () => {
    expect(await asked(() => failure(401))).toMatch(/^bad: cannot be reached/)
    expect(await asked(() => say('Looks good to me!'))).toMatch(/^bad: answers, but its verdict cannot be read/)
  })

  it('asks a command and an agent as a run would', { timeout }, async () => {
    const project = oneTask({ worker: 'true' })
    expect((await examine(project, ['--ping'])).found['judge.eyes']).toBe('ok: answers, and its verdict can be read')
    expect(project.logged('sittings')).toHaveLength(1)
    expect(project.logged('turns')).toHaveLength(0)
    const agent = makeProject({
      'assay.yaml': { brains: { c: { kind: 'agent', agent: 'claude' } }, agents: { qa: { role: 'reviewer', brain: 'c' } } },
    })
    expect((await examine(agent, ['--ping'], { env: withClaude() })).found['judge.c']).toMatch(/^ok: answers, and its verdict can be read/)
  })
})

describe('hooks', () => {
  const settings = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })

  it('are run as the agent would, in a rehearsal', { timeout }, async () => {
    const project = makeProject()
    project.write({
      'assay-hook.sh': `#!/bin/sh\necho "$ASSAY_HOOK_REHEARSAL $(cat)" > '${project.log('seen')}'\necho '{}'\n`,
      '.claude/settings.json': settings('./assay-hook.sh hook --agent claude'),
    })
    const { found } = await examine(project)
    expect(found['hook.claude']).toBe(`ok: fires (${join(project.folder, '.claude/settings.json')})`)
    const [seen = ''] = project.logged('seen')
    expect(seen).toMatch(/^1 \{/)
    expect(JSON.parse(seen.slice(2))).toMatchObject({ hook_event_name: 'Stop', cwd: project.folder, session_id: 'assay-doctor' })
  })

  it('that would not hold anybody back are told', { timeout }, async () => {
    for (const [command, problem] of [
      ['no-such-assay hook', /exit code 127/],
      ['echo assay hook', /its answer is no JSON/],
      ['echo 3 # assay hook', /its answer is no JSON object/],
      ['touch done; assay hook', /more than one plain command/],
    ] as const) {
      const project = makeProject({ '.codex/hooks.json': settings(command) })
      const { code, found } = await examine(project)
      expect(code).toBe(1)
      expect(found['hook.codex'], command).toMatch(/^bad: is in .*but does not fire/)
      expect(found['hook.codex']).toMatch(problem)
      expect(project.has('done')).toBe(false)
    }
    const torn = makeProject({ '.gemini/settings.json': '{ "hooks": ', '.github/hooks/other.json': '{"command": "lint"}' })
    expect((await examine(torn)).found['hook.gemini']).toMatch(/^bad: .*is no JSON/)
  })
})
