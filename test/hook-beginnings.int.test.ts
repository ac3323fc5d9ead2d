import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAssay, useAssay } from './front-door/assay.ts'
import { acceptPolicy, begin, callHook, commitAll, git, type HookAnswer, judgedPaths, ruledProject, stop } from './front-door/hooked.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const lowered = (project: Project): string => project.read('assay.yaml').replace('threshold: 60', 'threshold: 10')

/** Open questions to the owner about the policy. */
async function asked(project: Project): Promise<string[]> {
  const { lines } = await project.json<{ detail: string; subject: string }>(['requests'])
  return lines.filter(({ subject }) => subject.endsWith('/policy')).map(({ detail }) => detail)
}

describe('a session that nobody saw begin', () => {
  it.each([
    ['committed', (project: Project) => commitAll(project)],
    ['hidden from git', (project: Project) => git(project, 'update-index', '--assume-unchanged', 'assay.yaml')],
    ['unknown to git', (project: Project) => git(project, 'rm', '-q', '--cached', 'assay.yaml')],
    ['in no repository', ({ folder }: Project) => rmSync(join(folder, '.git'), { recursive: true })],
  ])('is not judged by a lowered bar that is %s, until the owner accepts it', { timeout }, async (_, hide) => {
    const project = ruledProject()
    project.write({ 'a.txt': 'bad\n', 'assay.yaml': lowered(project) })
    hide(project)
    for (let times = 0; times < 2; times += 1) {
      const { systemMessage } = await stop(project, 's1')
      expect(systemMessage).toMatch(/UNREVIEWED: nobody saw this session begin.*assay policy accept/)
    }
    expect(await asked(project)).toEqual([expect.stringContaining('assay policy accept')])
    expect(await judgedPaths(project)).toEqual([])
    await acceptPolicy(project)
    expect((await stop(project, 's1')).systemMessage).not.toContain('has not accepted')
    expect(await asked(project)).toEqual([])
  })

  it('is judged by what the owner accepted, and what was committed meanwhile is no ground', { timeout }, async () => {
    const project = ruledProject()
    await begin(project, 's0')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's0')).systemMessage).toContain('PASS')
    project.write({ 'a.txt': 'bad\n', 'b.txt': 'more\n' })
    commitAll(project)
    expect((await stop(project, 's1')).decision).toBe('block')
    expect((await judgedPaths(project)).at(-1)).toEqual(['a.txt', 'b.txt'])
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    expect(await stop(project, 's2')).toEqual({})
  })

  it('is measured against nothing where nothing was reviewed before', { timeout }, async () => {
    const project = ruledProject({
      'judge.sh': 'cat >/dev/null\ngrep -q good "$ASSAY_SNAPSHOT/a.txt" && echo "SCORE: 90" || echo "SCORE: 30"\n',
    })
    project.write({ 'a.txt': 'bad\n' })
    commitAll(project)
    expect((await stop(project, 's1')).systemMessage).toContain('assay policy accept')
    await acceptPolicy(project)
    expect((await stop(project, 's1')).decision).toBe('block')
    expect((await judgedPaths(project))[0]).toContain('a.txt')
  })

  it.each(['a transcript in which it has worked', 'a session that it goes on with', 'a stop before it'])(
    'gets no beginning by a start that comes late, as %s shows',
    { timeout },
    async (sign) => {
      const project = ruledProject()
      await begin(project, 's0')
      project.write({ 'a.txt': 'good\n' })
      expect((await stop(project, 's0')).systemMessage).toContain('PASS')
      const spoken = { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'working' }] } }
      project.write({ 'a.txt': 'bad\n', 'tmp/talk.jsonl': `${JSON.stringify(spoken)}\n` })
      if (sign.startsWith('a stop')) await stop(project, 's1', { background_tasks: [{ id: 'b' }] })
      const transcript = { transcript_path: join(project.folder, 'tmp', 'talk.jsonl') }
      await begin(project, 's1', sign.startsWith('a transcript') ? transcript : sign.startsWith('a session') ? { source: 'resume' } : {})
      expect((await stop(project, 's1')).decision).toBe('block')
      expect((await judgedPaths(project)).at(-1)).toEqual(['a.txt'])
    },
  )
})

describe('a project that an agent makes further down', () => {
  it('does not judge the agent, seen to begin or not', { timeout }, async () => {
    const project = ruledProject()
    const sub = join(project.folder, 'sub')
    const codex = async (event: string, session: string): Promise<HookAnswer> => {
      const input = JSON.stringify({ session_id: session, cwd: sub, hook_event_name: event })
      const { stdout } = await startAssay(['hook', '--agent', 'codex'], { cwd: sub, env: { HOME: project.folder }, input }).ended
      return JSON.parse(stdout) as HookAnswer
    }
    await callHook(project, { session_id: 's0', cwd: project.folder, hook_event_name: 'SessionStart' }, { agent: 'codex' })
    project.write({
      'a.txt': 'bad\n',
      'sub/assay.yaml': project.read('assay.yaml').replace('judge.sh', 'yes.sh'),
      'sub/yes.sh': 'cat >/dev/null\necho "SCORE: 100"\n',
      'sub/.codex/hooks.json': '{"hooks":{"Stop":[{"hooks":[{"command":"assay hook --agent codex"}]}]}}',
    })
    expect((await codex('Stop', 's0')).decision).toBe('block')
    expect((await codex('Stop', 's1')).systemMessage ?? '').not.toContain('PASS')
    await codex('SessionStart', 's2')
    expect(project.has('sub/.assay')).toBe(false)
  })

  it('is said to be on record nowhere where there is none', { timeout }, async () => {
    const empty = makeProject()
    const { stdout, stderr } = await empty.run(['hook', '--agent', 'claude'], {
      input: JSON.stringify({ session_id: 's1', cwd: empty.folder, hook_event_name: 'Stop' }),
    })
    expect((JSON.parse(stdout) as HookAnswer).systemMessage).toMatch(/UNREVIEWED.*on record nowhere/)
    expect(stderr).toContain('on record nowhere')
  })
})
