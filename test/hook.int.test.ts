import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const pass = { accept: true, scores: 4 }
const reject = {
  accept: false,
  scores: 2,
  category: 'half_finished',
  concern: 'The total is never printed.',
  next_step: 'Print the total.',
}

/** A git repository with one commit and a scripted judge that answers attempt by attempt. */
function repository(answers: object[], hook: object = {}): Project {
  const project = makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { qa: { role: 'reviewer', brain: 'canned' } },
      review: { panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0 },
      hook: { criteria: ['the total is printed'], ...hook },
    },
    'brain.yaml': { judges: { '*': answers } },
    'sum.js': 'let total = 0\n',
    '.gitignore': 'dist/\ntmp/\n.config/\n',
  })
  git(project, 'init', '-q')
  commit(project)
  return project
}

function git({ folder }: Project, ...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: folder, stdio: 'pipe' })
}

function commit(project: Project): void {
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'so far')
}

/** What the agents write to their hooks, as recorded from them, and how they are told to go on. */
const agents = {
  claude: {
    stop: (cwd: string) => ({
      session_id: 's-1',
      transcript_path: `${cwd}/tmp/transcript.jsonl`,
      cwd,
      prompt_id: 'p-1',
      permission_mode: 'default',
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: 'Done!',
      background_tasks: [] as unknown[],
      session_crons: [],
    }),
    reason: (answer: Answer) => (answer.decision === 'block' ? answer.reason : undefined),
  },
  codex: {
    stop: (cwd: string) => ({
      session_id: 's-1',
      turn_id: 't-1',
      transcript_path: null,
      cwd,
      hook_event_name: 'Stop',
      model: 'm',
      last_assistant_message: 'Done!',
    }),
    reason: (answer: Answer) => (answer.decision === 'block' ? answer.reason : undefined),
  },
  gemini: {
    stop: (cwd: string) => ({
      session_id: 's-1',
      transcript_path: '',
      cwd,
      hook_event_name: 'AfterAgent',
      timestamp: '2026-11-16T00:00:00Z',
      prompt: 'Print the total',
      prompt_response: 'Done!',
    }),
    reason: (answer: Answer) => (answer.decision === 'deny' ? answer.reason : undefined),
  },
  copilot: {
    stop: (cwd: string) => ({ timestamp: 1, cwd, sessionId: 's-1' }),
    reason: (answer: Answer) => (answer.decision === 'block' ? answer.reason : undefined),
  },
  cursor: {
    stop: (cwd: string) => ({
      conversation_id: 's-1',
      generation_id: 'g',
      hook_event_name: 'stop',
      workspace_roots: [cwd],
      status: 'completed',
      loop_count: 0,
    }),
    reason: (answer: Answer) => answer.followup_message,
  },
}
type Answer = { decision?: string; reason?: string; followup_message?: string; systemMessage?: string }

/** The same for the start of that session. */
const starts: Record<string, (cwd: string) => object> = {
  claude: (cwd) => ({ session_id: 's-1', cwd, hook_event_name: 'SessionStart', source: 'startup' }),
  codex: (cwd) => ({ session_id: 's-1', transcript_path: null, cwd, hook_event_name: 'SessionStart', source: 'startup', model: 'm' }),
  gemini: (cwd) => ({ session_id: 's-1', transcript_path: '', cwd, hook_event_name: 'SessionStart', source: 'startup' }),
  copilot: (cwd) => ({ timestamp: 1, cwd, sessionId: 's-1', source: 'new', initialPrompt: 'Print the total' }),
  cursor: (cwd) => ({ conversation_id: 's-1', hook_event_name: 'beforeSubmitPrompt', workspace_roots: [cwd], prompt: 'Print the total' }),
}

async function begun(project: Project, agent = 'claude'): Promise<void> {
  await hook(project, agent, starts[agent]?.(project.folder))
}

async function hook(project: Project, agent: string, input: unknown, env: Record<string, string> = {}) {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const { code, stdout, stderr } = await project.run(['hook', '--agent', agent], { input: text, env })
  expect(code, stderr).toBe(0)
  return { answer: JSON.parse(stdout) as Answer, stderr }
}

describe('assay hook', () => {
  it('holds claude with feedback in its own words, then lets it go', { timeout }, async () => {
    const { stop, reason } = agents.claude
    const project = repository([reject, pass])
    await begun(project)
    project.write({ 'sum.js': 'let total = 1 + 1\n', 'dist/built.js': 'ignored', 'tmp/transcript.jsonl': '' })
    const first = await hook(project, 'claude', stop(project.folder))
    expect(reason(first.answer)).toContain('Print the total.')
    expect(reason(first.answer)).toContain('try 1 of 3')
    project.write({ 'sum.js': 'let total = 1 + 1\nconsole.log(total)\n' })
    const second = await hook(project, 'claude', stop(project.folder))
    expect(reason(second.answer)).toBeUndefined()
    expect(second.stderr).toContain('Assay: PASS (80/100, bar 60)')
    const [row] = (await project.json<{ id: string; flag: string; attempt: number }>(['task', 'list'])).lines
    expect(row).toMatchObject({ id: 'claude-session-s-1-1/work', flag: 'clean', attempt: 2 })
    const submitted = (await project.events()).find(({ type }) => type === 'case.submitted')
    expect(submitted?.data).toMatchObject({ content: { paths: ['sum.js'] } })
    expect((await hook(project, 'claude', stop(project.folder))).answer).toEqual({})
  })

  it('holds every other agent in its own words', { timeout }, async () => {
    // Tries are counted over all of them: they leave the same ground unmended.
    const project = repository([reject], { maxAttempts: 9 })
    for (const agent of Object.keys(agents)) await begun(project, agent)
    project.write({ 'sum.js': 'let total = 1 + 1\n' })
    for (const [agent, { stop, reason }] of Object.entries(agents)) {
      if (agent === 'claude') continue
      const { answer } = await hook(project, agent, stop(project.folder))
      expect(reason(answer), agent).toContain('Print the total.')
    }
  })

  it('tells judges what was asked, and measures from where the session began', { timeout }, async () => {
    const project = repository([pass])
    project.write({ 'notes.txt': 'mine, before the session' })
    const start = { session_id: 's-1', cwd: project.folder, hook_event_name: 'SessionStart', source: 'startup' }
    expect((await hook(project, 'claude', start)).answer).toEqual({})
    const lines = [
      { type: 'user', message: { role: 'user', content: 'Print the total, please' } },
      { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: 'x' }] } },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] } },
    ]
    project.write({ 'sum.js': 'console.log(2)\n', 'tmp/transcript.jsonl': lines.map((line) => JSON.stringify(line)).join('\n') })
    await hook(project, 'claude', agents.claude.stop(project.folder))
    const events = await project.events()
    expect(events.find(({ type }) => type === 'case.submitted')?.data).toMatchObject({ content: { paths: ['sum.js'], output: 'Done!' } })
    expect(events.find(({ type }) => type === 'task.created')?.data).toMatchObject({ spec: { title: 'Print the total, please' } })
  })

  it('lets go after its own number of tries, honestly: below the bar, and the owner is asked', { timeout }, async () => {
    const project = repository([reject], { maxAttempts: 2 })
    const stop = agents.claude.stop(project.folder)
    await begun(project)
    project.write({ 'sum.js': 'a\n', 'tmp/transcript.jsonl': '' })
    expect((await hook(project, 'claude', stop)).answer.decision).toBe('block')
    project.write({ 'sum.js': 'b\n' })
    const { answer } = await hook(project, 'claude', stop)
    expect(answer.decision).toBeUndefined()
    expect(answer.systemMessage).toContain('ACCEPTED BELOW QUALITY BAR (40/100')
    expect((await project.json(['requests'])).lines).toHaveLength(1)
  })

  it('says out loud and records that work went unreviewed, for want of a judge or by its own fault', { timeout }, async () => {
    const project = repository([{ unavailable: '503' }])
    await begun(project)
    await begun(project, 'codex')
    project.write({ 'sum.js': 'a\n', 'tmp/transcript.jsonl': '' })
    const { answer } = await hook(project, 'claude', agents.claude.stop(project.folder))
    expect(answer.decision).toBeUndefined()
    expect(answer.systemMessage).toMatch(/UNREVIEWED.*503/)
    expect((await project.events()).filter(({ type }) => type === 'session.unreviewed')).toHaveLength(1)
    // Codex shows the message to its person, too.
    expect((await hook(project, 'codex', agents.codex.stop(project.folder))).answer).toEqual({
      systemMessage: expect.stringContaining('UNREVIEWED'),
    })
    expect((await project.events()).filter(({ type }) => type === 'session.unreviewed')).toHaveLength(2)
    project.write({ 'assay.yaml': 'agents: [' })
    expect((await hook(project, 'claude', agents.claude.stop(project.folder))).answer.systemMessage).toMatch(/UNREVIEWED.*assay\.yaml/s)
    project.write({ 'assay.yaml': {} })
    expect((await project.events()).filter(({ type }) => type === 'session.unreviewed')).toHaveLength(3)
  })

  it('does not hold an agent that has not ended, changed nothing, said nothing readable, or is elsewhere', { timeout }, async () => {
    const project = repository([reject])
    const stop = agents.claude.stop(project.folder)
    project.write({ 'tmp/transcript.jsonl': '' })
    const { answer } = await hook(project, 'claude', stop)
    expect(answer.systemMessage).toContain('UNREVIEWED: nobody saw this session begin')
    project.write({ 'sum.js': 'a\n' })
    expect((await hook(project, 'claude', { ...stop, background_tasks: [{ id: 'b' }] })).answer).toEqual({
      systemMessage: 'Assay: not reviewed yet: the agent has work under way',
    })
    expect((await hook(project, 'claude', { ...stop, hook_event_name: 'Notification' })).answer).toEqual({})
    for (const told of ['no JSON', {}, [], null, { hook_event_name: 7 }])
      expect((await hook(project, 'claude', told)).answer.systemMessage, JSON.stringify(told)).toContain('UNREVIEWED')
    expect((await project.events()).filter(({ type }) => type === 'session.unreviewed')).toHaveLength(7)
    const elsewhere = makeProject()
    expect((await hook(elsewhere, 'claude', agents.claude.stop(elsewhere.folder))).answer.systemMessage).toContain('no assay.yaml')
    expect((await project.run(['hook'])).code).toBe(0)
  })
})

describe('what an agent under the hook cannot do', () => {
  const start = (cwd: string, session = 's-1') => ({ session_id: session, cwd, hook_event_name: 'SessionStart', source: 'startup' })

  it('lower its own bar, hide a file, or start anew with what was rejected', { timeout }, async () => {
    const project = repository([reject])
    const stop = agents.claude.stop(project.folder)
    await hook(project, 'claude', start(project.folder))
    const config = project.read('assay.yaml')
    project.write({ 'evil.js': 'let total = 1 + 1\n', '.git/info/exclude': 'evil.js\n' })
    expect((await hook(project, 'claude', stop)).answer.decision).toBe('block')
    project.write({ 'assay.yaml': config.replace('panel:', 'threshold: 21\n  panel:') })
    const lowered = await hook(project, 'claude', stop)
    expect(lowered.answer.systemMessage).toMatch(/UNREVIEWED.*changed during the session/)
    project.write({ 'assay.yaml': config })
    expect((await hook(project, 'claude', start(project.folder, 's-2'))).answer).toEqual({})
    expect((await hook(project, 'claude', { ...stop, session_id: 's-2' })).answer.decision).toBe('block')
  })

  it('pass on a review of other bytes that a hook before left open, or be judged by itself', { timeout }, async () => {
    const project = repository([], { timeout: '12s' })
    const awaits = `[ -e "${project.folder}/tmp/go" ] || sleep 60; echo 'SCORE: 80'`
    const config = project
      .read('assay.yaml')
      .replace(/kind: scripted\n\s+file: brain.yaml/, `kind: command\n    argv: [sh, -c, ${JSON.stringify(awaits)}]`)
    expect(config).toContain('kind: command')
    project.write({ 'assay.yaml': config })
    commit(project)
    const stop = agents.claude.stop(project.folder)
    await hook(project, 'claude', start(project.folder))
    project.write({ 'sum.js': 'console.log(2)\n' })
    expect((await hook(project, 'claude', stop)).answer.systemMessage).toContain('UNREVIEWED')
    project.write({ 'tmp/go': 'now', 'sum.js': 'evil\n' })
    await hook(project, 'claude', stop)
    const events = await project.events()
    // What was left open was judged for itself, and the new bytes for themselves.
    const decided = events.filter(({ type }) => type === 'review.decided')
    const submitted = events
      .filter(({ type }) => type === 'case.submitted')
      .map(({ data }) => (data as { content: { digest: string } }).content.digest)
    expect(decided).toHaveLength(2)
    expect(new Set(submitted).size).toBe(2)

    const alone = repository([pass])
    alone.write({
      'assay.yaml': {
        brains: { claude: { kind: 'agent', agent: 'claude' }, canned: { kind: 'scripted', file: 'brain.yaml' } },
        agents: { dev: { role: 'engineer', brain: 'claude' } },
      },
    })
    commit(alone)
    alone.write({ 'sum.js': 'console.log(2)\n' })
    const judgeless = (await hook(alone, 'claude', agents.claude.stop(alone.folder))).answer.systemMessage
    expect(judgeless).toMatch(/UNREVIEWED.*(nobody|no other agent)/s)
  })

  it('take its project’s judge along no further than its own folder, wherever it says it is', { timeout }, async () => {
    const project = repository([reject])
    const elsewhere = makeProject({ 'a.txt': 'no project at all' })
    await hook(project, 'claude', start(project.folder))
    project.write({ 'sum.js': 'bad\n', 'sub/assay.yaml': project.read('assay.yaml'), 'sub/brain.yaml': { judges: { '*': [pass] } } })
    expect((await hook(project, 'claude', agents.claude.stop(`${project.folder}/sub`))).answer.decision).toBe('block')
    const away = agents.claude.stop(elsewhere.folder)
    expect((await hook(elsewhere, 'claude', away)).answer.systemMessage).toContain('UNREVIEWED')
    expect((await hook(elsewhere, 'claude', away, { CLAUDE_PROJECT_DIR: project.folder })).answer.decision).toBe('block')
  })

  it('hide new work behind rules of its own or in a repository of its own', { timeout }, async () => {
    const project = repository([reject])
    await hook(project, 'claude', start(project.folder))
    project.write({ 's/.gitignore': '*\n', 's/f.txt': 'bad\n' })
    expect((await hook(project, 'claude', agents.claude.stop(project.folder))).answer.decision).toBe('block')
    const nested = repository([reject])
    await hook(nested, 'claude', start(nested.folder))
    nested.write({ 'hid/f.txt': 'bad\n' })
    execFileSync('git', ['init', '-q'], { cwd: `${nested.folder}/hid` })
    expect((await hook(nested, 'claude', agents.claude.stop(nested.folder))).answer.decision).toBe('block')
    const brought = (await nested.events()).find(({ type }) => type === 'case.submitted')?.data as { content: { paths: string[] } }
    expect(brought.content.paths).toEqual(['hid/f.txt'])
  })

  it('go for reviewed where nobody saw it begin and it committed, or pointed at a judge of its own', { timeout }, async () => {
    const project = repository([reject])
    project.write({ 'f.txt': 'bad\n' })
    commit(project)
    expect((await hook(project, 'claude', agents.claude.stop(project.folder))).answer.systemMessage).toContain('UNREVIEWED')
    project.write({ 'f.txt': 'worse\n', 'own.yaml': { judges: { '*': [pass] } } })
    project.write({ 'assay.yaml': project.read('assay.yaml').replace('brain.yaml', 'own.yaml') })
    const own = await hook(project, 'claude', agents.claude.stop(project.folder))
    expect(own.answer.systemMessage).toMatch(/UNREVIEWED: nobody saw this session begin.*assay policy accept/)
  })

  it('launder what was rejected by adding to it, or break the hook with the name of its session', { timeout }, async () => {
    const project = repository([reject], { maxAttempts: 9 })
    const stop = agents.claude.stop(project.folder)
    await hook(project, 'claude', start(project.folder, 'e'))
    project.write({ 'f.txt': 'bad\n' })
    expect((await hook(project, 'claude', { ...stop, session_id: 'e' })).answer.decision).toBe('block')
    project.write({ 'n.txt': 'a note\n' })
    for (const session of ['e2', 'a\0b', '\ud800', 'x'.repeat(5000)]) {
      expect((await hook(project, 'claude', start(project.folder, session))).answer).toEqual({})
      expect((await hook(project, 'claude', { ...stop, session_id: session })).answer.decision, session.slice(0, 9)).toBe('block')
    }
  })
})

describe('a session with nothing new', () => {
  it('is let go at once, by the journal’s last word, until anything at all has changed', { timeout }, async () => {
    const project = repository([pass])
    const stop = agents.claude.stop(project.folder)
    await hook(project, 'claude', { session_id: 's-1', cwd: project.folder, hook_event_name: 'SessionStart' })
    project.write({ 'sum.js': 'console.log(2)\n', 'tmp/transcript.jsonl': '' })
    await delay(200)
    expect((await hook(project, 'claude', stop)).answer.systemMessage).toContain('PASS')
    const released = (await project.events()).length
    expect((await project.events()).at(-1)).toMatchObject({ type: 'session.released', data: { session: 's-1' } })
    expect((await hook(project, 'claude', stop)).answer).toEqual({})
    expect(await project.events()).toHaveLength(released)
    for (const change of [
      { 'sum.js': 'console.log(3)\n' },
      { 's/.gitignore': '*\n', 's/hidden.js': 'evil\n' },
      { 'brain.yaml': { judges: { '*': [reject] } } },
    ]) {
      project.write(change)
      const before = (await project.events()).length
      await hook(project, 'claude', stop)
      expect((await project.events()).length, Object.keys(change)[0]).toBeGreaterThan(before)
    }
  })
})

describe('assay hook install', () => {
  it('shows, writes and takes out exactly its own entry', { timeout }, async () => {
    const project = makeProject()
    const theirs = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] }, other: 1 }
    const before = `${JSON.stringify(theirs, null, 4)}\n`
    const file = '.claude/settings.json'
    project.write({ [file]: before })
    const shown = await project.run(['hook', 'install', '--agent', 'claude', '--dry-run'])
    expect(shown.stdout).toContain('hook --agent claude')
    expect(project.read(file)).toBe(before)
    expect((await project.run(['hook', 'install', '--agent', 'claude'])).code).toBe(2)
    expect((await project.run(['hook', 'install', '--agent', 'claude', '--yes'])).code).toBe(0)
    const written = project.read(file)
    expect(written).toContain('say done')
    expect(written).toContain('hook --agent claude')
    expect((await project.run(['hook', 'install', '--agent', 'claude', '--yes'])).stdout).toContain('already')
    expect(project.read(file)).toBe(written)
    expect((await project.run(['hook', 'remove', '--agent', 'claude', '--yes'])).code).toBe(0)
    expect(JSON.parse(project.read(file))).toEqual(theirs)
  })

  it('leaves torn settings alone', { timeout }, async () => {
    const project = makeProject({ '.claude/settings.json': '{ "hooks": ' })
    const refused = await project.run(['hook', 'install', '--agent', 'claude', '--yes'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no JSON object') })
    expect(project.read('.claude/settings.json')).toBe('{ "hooks": ')
  })
})
