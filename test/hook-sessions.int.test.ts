import { execFileSync, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

type Answer = { decision?: string; reason?: string; systemMessage?: string }

/** A committed project with a judge that wants `a.txt` to say good. `waits`: what the judge does before it says so. */
function judged({ hook = {}, waits = '' }: { hook?: object; waits?: string } = {}): Project {
  const project = makeProject({
    'assay.yaml': {
      brains: { crit: { kind: 'command', argv: ['./judge.sh'] } },
      agents: { qa: { role: 'reviewer', brain: 'crit' } },
      review: { threshold: 60, panel: { size: 1, quorum: 1 } },
      hook: { criteria: ['a.txt says good'], maxAttempts: 2, ...hook },
    },
    'judge.sh': `#!/bin/sh\ncat >/dev/null\n${waits}\nif grep -q good "$ASSAY_SNAPSHOT/a.txt"; then echo 'SCORE: 90'; else echo 'SCORE: 30'; fi\n`,
    '.gitignore': '.assay\ntmp/\n.config/\n',
    'a.txt': 'nothing yet\n',
  })
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  commit(project)
  return project
}

function commit({ folder }: Project): void {
  for (const args of [
    ['add', '-A'],
    ['commit', '-qm', 'so far'],
  ])
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: folder, stdio: 'pipe' })
}

async function hook(project: Project, told: object, agent = 'claude'): Promise<Answer> {
  const { code, stdout, stderr } = await project.run(['hook', '--agent', agent], { input: JSON.stringify(told) })
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Answer
}

const start = (project: Project, session: string): Promise<Answer> =>
  hook(project, { session_id: session, cwd: project.folder, hook_event_name: 'SessionStart' })
const stop = (project: Project, session: string, more: object = {}): Promise<Answer> =>
  hook(project, { session_id: session, cwd: project.folder, hook_event_name: 'Stop', ...more })

async function unreviewed(project: Project): Promise<string[]> {
  return (await project.events()).filter(({ type }) => type === 'session.unreviewed').map(({ data }) => (data as { reason: string }).reason)
}

async function broughtPaths(project: Project): Promise<string[][]> {
  const cases = (await project.events()).filter(({ type }) => type === 'case.submitted')
  return cases.map(({ data }) => (data as { content: { paths: string[] } }).content.paths)
}

describe('a pass', () => {
  it('is not said of a folder that changed while it was reviewed, and what came is reviewed next', { timeout }, async () => {
    const project = judged({
      hook: { timeout: '100s' },
      waits: ': >"$TEMPORARY/asked"; until [ -e "$TEMPORARY/changed" ]; do sleep 0.1; done',
    })
    project.write({ 'judge.sh': project.read('judge.sh').replaceAll('$TEMPORARY', `${project.folder}/tmp`) })
    commit(project)
    await start(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    // Changes the folder once the judge has been asked, then lets the judge go on.
    const late = spawn('sh', ['-c', 'until [ -e tmp/asked ]; do sleep 0.1; done; echo EVIL >k.txt; : >tmp/changed'], {
      cwd: project.folder,
      stdio: 'ignore',
    })
    onTestFinished(() => void late.kill('SIGKILL'))
    const answer = await stop(project, 's1')
    expect(project.read('k.txt')).toBe('EVIL\n')
    expect(answer.systemMessage).toMatch(/UNREVIEWED.*k\.txt/)
    expect(await unreviewed(project)).toEqual([expect.stringContaining('k.txt')])
    expect((await project.events()).filter(({ type }) => type === 'session.released')).toEqual([])
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    expect(await broughtPaths(project)).toEqual([['a.txt'], ['k.txt']])
  })

  it('is not to be had by a bar that the owner has not accepted, in any session', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    project.write({ 'assay.yaml': project.read('assay.yaml').replace('threshold: 60', 'threshold: 10') })
    expect((await stop(project, 's1')).systemMessage).toContain('changed during the session')
    await start(project, 's2')
    expect((await stop(project, 's2')).systemMessage).toMatch(/UNREVIEWED.*60.*10.*assay policy accept/s)
    expect(await unreviewed(project)).toHaveLength(2)
    expect((await project.asOwner(['policy', 'accept', '--reason', 'as it should be'])).code).toBe(0)
    expect((await stop(project, 's2')).systemMessage).toContain('PASS')
  })

  it('is not to be had by a bar that was lowered before anything was reviewed', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n', 'assay.yaml': project.read('assay.yaml').replace('threshold: 60', 'threshold: 10') })
    expect((await stop(project, 's1')).systemMessage).toContain('UNREVIEWED')
    await start(project, 's2')
    project.write({ 'a.txt': 'worse\n' })
    expect((await stop(project, 's2')).systemMessage).toContain('assay policy accept')
  })
})

describe('what was rejected and left', () => {
  it('is still judged when something was added to it or it was moved, and not when it is as it was before', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n', 'b.txt': 'more of it\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    project.write({ 'a.txt': 'bad\nmore\n', 'own.txt': 'of somebody else\n' })
    execFileSync('mv', ['b.txt', 'c.txt'], { cwd: project.folder })
    commit(project)
    await start(project, 's2')
    expect((await stop(project, 's2')).decision).toBe('block')
    expect((await broughtPaths(project)).at(-1)).toEqual(['a.txt', 'c.txt'])
    execFileSync('rm', ['c.txt'], { cwd: project.folder })
    project.write({ 'a.txt': 'nothing yet\n' })
    await start(project, 's3')
    expect(await stop(project, 's3')).toEqual({})
  })

  it('is still judged where it had hidden itself', { timeout }, async () => {
    const project = judged({ hook: { maxAttempts: 3 } })
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n', 's/.gitignore': '*\n', 's/f.txt': 'hidden\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    project.write({ 'a.txt': 'nothing yet\n', 's/f.txt': 'hidden, and more\n' })
    await start(project, 's2')
    expect((await stop(project, 's2')).decision).toBe('block')
    expect((await broughtPaths(project)).at(-1)).toEqual(['s/.gitignore', 's/f.txt'])
  })

  it('is settled by a later session that mended it', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n', 'b.txt': 'as good as ever\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    await start(project, 's2')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's2')).systemMessage).toContain('PASS')
    commit(project)
    await start(project, 's3')
    expect(await stop(project, 's3')).toEqual({})
    expect(await broughtPaths(project)).toEqual([
      ['a.txt', 'b.txt'],
      ['a.txt', 'b.txt'],
    ])
    // What was rejected once is not accepted by that.
    project.write({ 'a.txt': 'bad\n' })
    await start(project, 's4')
    expect((await stop(project, 's4')).decision).toBe('block')
    expect((await broughtPaths(project)).at(-1)).toEqual(['a.txt'])
  })

  it('is settled by a later session that was let go below the bar, with the owner asked', { timeout }, async () => {
    const project = judged({ hook: { maxAttempts: 3 } })
    await start(project, 's1')
    project.write({ 'a.txt': 'bad\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    await start(project, 's2')
    expect((await stop(project, 's2')).decision).toBe('block')
    project.write({ 'b.txt': 'does not help\n' })
    expect((await stop(project, 's2')).systemMessage).toContain('BELOW QUALITY BAR')
    await start(project, 's3')
    expect(await stop(project, 's3')).toEqual({})
  })
})

describe('work that git does not list', () => {
  it('is looked at each time: no answer is given at once', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    project.write({ 'a.txt': 'good\n', 's/.gitignore': '*\n', 's/f.txt': 'hidden\n' })
    await delay(200)
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    project.write({ 's/f.txt': 'EVIL\n' })
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    expect((await broughtPaths(project)).at(-1)).toEqual(['s/f.txt'])
  })
})

describe('an agent that is let go without a review', () => {
  it('because something of it still runs is on record, once for each state of the folder', { timeout }, async () => {
    const project = judged()
    const busy = { background_tasks: [{ id: 'b' }] }
    await start(project, 's1')
    const said = { systemMessage: 'Assay: not reviewed yet: the agent has work under way' }
    expect(await stop(project, 's1', busy)).toEqual(said)
    expect(await unreviewed(project)).toEqual([])
    project.write({ 'a.txt': 'bad\n' })
    for (let times = 0; times < 2; times += 1) expect(await stop(project, 's1', busy)).toEqual(said)
    expect(await unreviewed(project)).toEqual([expect.stringContaining('under way')])
    project.write({ 'a.txt': 'worse\n' })
    expect(await stop(project, 's1', busy)).toEqual(said)
    expect(await unreviewed(project)).toHaveLength(2)
    expect((await stop(project, 's1')).decision).toBe('block')
  })

  it('does not get away from its project by saying that it is elsewhere', { timeout }, async () => {
    const project = judged()
    const elsewhere = makeProject({ 'a.txt': 'no project at all' })
    await hook(project, { session_id: 's1', cwd: project.folder, hook_event_name: 'SessionStart' }, 'codex')
    project.write({ 'a.txt': 'bad\n' })
    const away = { session_id: 's1', cwd: elsewhere.folder, hook_event_name: 'Stop' }
    expect((await hook(project, away, 'codex')).decision).toBe('block')
  })
})

describe('a command that cannot be read', () => {
  it('lets the agent go all the same, in its own words, and is on record', { timeout }, async () => {
    const project = judged()
    await start(project, 's1')
    const input = JSON.stringify({ session_id: 's1', cwd: project.folder, hook_event_name: 'Stop' })
    for (const args of [
      ['--agent', 'claude', '--bogus'],
      ['--agent', 'claude', 'extra'],
      ['--agent=codex', '--bogus'],
      ['--agent', 'bogus'],
      ['--agent'],
      ['--agent', '--json'],
      [],
    ]) {
      const { code, stdout, stderr } = await project.run(['hook', ...args], { input })
      expect(code, args.join(' ')).toBe(0)
      expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringContaining('UNREVIEWED') })
      expect(stderr).toContain('error:')
    }
    const cursor = await project.run(['hook', '--agent', 'cursor', '--bogus'], { input: '{}' })
    expect({ code: cursor.code, stdout: cursor.stdout.trim() }).toEqual({ code: 0, stdout: '{}' })
    expect((await unreviewed(project)).length).toBeGreaterThanOrEqual(3)
    expect((await project.run(['hook', 'install', '--agent', 'claude', '--bogus'])).code).toBe(2)
  })
})
