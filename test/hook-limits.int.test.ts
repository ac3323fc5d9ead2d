import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { begin, type HookAnswer, ruledProject, stop, unreviewedReasons } from './front-door/hooked.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** The hook with an input that is never closed. */
async function openEnded(
  project: Project,
  text: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; answer: HookAnswer; stderr: string }> {
  const [command = '', ...args] = assayCommand(['hook', '--agent', 'claude'])
  const child = spawn(command, args, { cwd: project.folder, env: { ...plainEnv(project.folder), ...env }, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => undefined).write(text)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (some) => {
    stdout += some
  })
  child.stderr.on('data', (some) => {
    stderr += some
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, answer: JSON.parse(stdout) as HookAnswer, stderr }
}

const question = (project: Project, event: string): string =>
  JSON.stringify({ session_id: 's1', cwd: project.folder, hook_event_name: event })
const withTimeout = (time: string): object => ({ hook: { criteria: ['a.txt says good'], timeout: time } })

describe('a hook', () => {
  it('answers a whole question whose input stays open', { timeout }, async () => {
    const project = ruledProject()
    expect(await openEnded(project, question(project, 'SessionStart'))).toMatchObject({ code: 0, answer: {} })
    project.write({ 'a.txt': 'good\n' })
    const { code, answer } = await openEnded(project, `${question(project, 'Stop')}\n`)
    expect({ code, ...answer }).toMatchObject({ code: 0, systemMessage: expect.stringContaining('PASS') })
  })

  it('lets the agent go, unreviewed, when no question comes within its time', { timeout }, async () => {
    const project = ruledProject({}, withTimeout('3s'))
    const { code, answer } = await openEnded(project, '{"session_id": "s1"')
    expect({ code, ...answer }).toMatchObject({ code: 0, systemMessage: expect.stringContaining('UNREVIEWED') })
  })

  const slowGit = '#!/bin/sh\n: >"$HOME/tmp/asked"\nexec sleep 300\n'

  it('lets the agent go, unreviewed and on record, when looking at the folder takes longer than its time', { timeout }, async () => {
    const project = ruledProject({ 'tmp/kept': '' }, withTimeout('15s'))
    await begin(project, 's1')
    project.write({ 'a.txt': 'bad\n' })
    const folder = mkdtempSync(join(tmpdir(), 'assay-slow-git-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'git'), slowGit, { mode: 0o755 })
    const env = { PATH: `${folder}:${process.env.PATH}` }
    const { code, stdout } = await project.run(['hook', '--agent', 'claude'], { input: question(project, 'Stop'), env })
    expect(project.has('tmp/asked')).toBe(true)
    expect(code).toBe(0)
    const { systemMessage } = JSON.parse(stdout) as HookAnswer
    expect(systemMessage).toMatch(/UNREVIEWED: the hook did not come to an end within hook\.timeout \(15s\)/)
    expect(await unreviewedReasons(project)).toEqual([expect.stringContaining('hook.timeout')])
  })

  it('does not look at the folder with a git that lies in it', { timeout }, async () => {
    const project = ruledProject({ 'tmp/bin/git': slowGit })
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    const env = { PATH: `${join(project.folder, 'tmp', 'bin')}:${process.env.PATH}` }
    await project.run(['hook', '--agent', 'claude'], { input: question(project, 'Stop'), env })
    expect(project.has('tmp/asked')).toBe(false)
  })

  it('answers at once where nothing changed beside a folder that ignores itself', { timeout }, async () => {
    const project = ruledProject()
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n', '.pytest_cache/.gitignore': '*\n', '.pytest_cache/v/last': '{}\n' })
    await delay(200)
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    const released = async () => (await project.events()).filter(({ type }) => type === 'session.released')
    expect(await released()).toMatchObject([{ data: { hidden: ['.pytest_cache/.gitignore', '.pytest_cache/v/last'] } }])
    expect(await stop(project, 's1')).toEqual({})
    // Nothing was written by the second stop: it did not open the journal for it.
    expect(await released()).toHaveLength(1)
    project.write({ '.pytest_cache/v/last': 'EVIL\n' })
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
  })

  it.each([
    ['was empty', 'spare'],
    ['was empty, in one that git lists', 'src/spare'],
    ['was empty, further down', 'spare/deep/down'],
    ['had ignored files alone', 'logs'],
  ])('looks at what comes to lie, ignored by a rule of its own, in a folder that %s', { timeout }, async (_how, folder) => {
    const judge = `cat >/dev/null\nif [ -e "$ASSAY_SNAPSHOT/${folder}/evil.txt" ]; then echo "SCORE: 30"; else echo "SCORE: 90"; fi\n`
    const rules = '.assay\ntmp/\n.config/\n*.log\nout/\n'
    const project = ruledProject({ 'judge.sh': judge, 'src/a.txt': 'a\n', 'logs/a.log': 'a\n', '.gitignore': rules })
    mkdirSync(join(project.folder, folder), { recursive: true })
    mkdirSync(join(project.folder, 'out/made'), { recursive: true })
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    await delay(200)
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    const written = (await project.events()).length
    project.write({ 'out/made/.gitignore': '*\n', 'out/made/b.txt': 'ignored from the beginning\n' })
    expect(await stop(project, 's1')).toEqual({})
    expect(await project.events(), 'that was answered at once').toHaveLength(written)
    project.write({ [`${folder}/.gitignore`]: '*\n', [`${folder}/evil.txt`]: 'evil\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
  })

  it('does not tell an agent where the owner’s token would lie', { timeout }, async () => {
    const project = ruledProject()
    rmSync(join(project.folder, '.config', 'assay'), { recursive: true })
    project.write({ '.config/assay': 'no folder' })
    const { systemMessage } = await stop(project, 's1')
    expect(systemMessage).toMatch(/UNREVIEWED: .*owner's token/)
    expect(systemMessage).not.toContain('.config')
  })
})

describe('an agent that asks for what is the owner’s', () => {
  it('is refused without a word of where the token lies', { timeout }, async () => {
    const project = ruledProject()
    await begin(project, 's1')
    for (const env of [{ CLAUDECODE: '1' }, { CLAUDECODE: '1', ASSAY_OWNER_TOKEN: 'guessed' }] as Record<string, string>[]) {
      const { code, stderr } = await project.run(['policy', 'accept', '--reason', 'mine'], { env })
      expect(code).not.toBe(0)
      expect(stderr).toContain('owner')
      expect(stderr).not.toContain('owner-token')
    }
  })
})
