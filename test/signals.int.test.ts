import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { readJournal } from './front-door/journal.ts'
import { noneLeft, processesOf, until, whileRuns } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

/** One task. Its first turn waits for the file `go`, its first sitting too where `slow` is the judge. */
function slowProject({ slow, stopGrace }: { slow: 'worker' | 'judge'; stopGrace: string }): Project {
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, eyes: { kind: 'command', argv: ['./judge.sh'] } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, ada: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 } },
      stopGrace,
    },
    'mission.yaml': { name: 'Slow', tasks: [{ title: 'slow', assignTo: 'dev', description: 'Takes a while.' }] },
  })
  const wait = `: > '${project.log('begun')}'\nwhile [ ! -e '${project.log('go')}' ]; do sleep 0.05; done\n`
  const log = (name: string) => `echo "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log(name)}'\n`
  project.write({
    'worker.sh': `#!/bin/sh\n${log('turns')}${slow === 'worker' ? wait : ''}echo work > work.txt\n`,
    'judge.sh': `#!/bin/sh\n${log('judgings')}${slow === 'judge' ? wait : ''}echo 'SCORE: 80'\n`,
  })
  return project
}

async function begun(project: Project, env: Record<string, string> = {}) {
  const running = project.start(['run', 'mission.yaml'], { env })
  await whileRuns(running, 'the slow one has begun', () => project.has('tmp/begun'))
  return running
}

const typesOf = async (project: Project) => (await readJournal(project.folder)).events.map(({ type }) => type)

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('lets an open turn finish within the grace time; nothing new begins; resume goes on', { timeout }, async () => {
    const project = slowProject({ slow: 'worker', stopGrace: '120s' })
    const running = await begun(project)
    running.child.kill(signal)
    await whileRuns(running, 'it says that it stops', () => running.stderr().includes('stopping'))
    project.write({ 'tmp/go': '' })
    expect(await running.ended).toMatchObject({ code: 130, signal: null, stdout: expect.stringContaining('RESULT: STOPPED') })
    await noneLeft(project.folder)
    const types = await typesOf(project)
    expect(types).toContain('case.submitted')
    expect(types).not.toContain('verdict.recorded')
    expect(await project.run(['resume'])).toMatchObject({ code: 0 })
    expect(project.logged('turns')).toEqual(['slow-1/slow 1'])
    expect(project.logged('judgings')).toEqual(['slow-1/slow 1'])
  })

  it('ends a turn that does not finish in time, uncharged; resume gives it all its attempts', { timeout }, async () => {
    const project = slowProject({ slow: 'worker', stopGrace: '100ms' })
    const running = await begun(project)
    running.child.kill(signal)
    expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: expect.stringContaining('stopped, not charged') })
    await noneLeft(project.folder)
    expect(await typesOf(project)).toContain('attempt.stopped')
    project.write({ 'tmp/go': '' })
    expect(await project.run(['resume'])).toMatchObject({ code: 0, stdout: expect.stringContaining('RESULT: PASS') })
    const shown = await project.json(['task', 'show', 'slow'])
    expect(shown.lines).toMatchObject([{ charged: 1, allowed: 2, status: 'done' }])
  })

  it('gives a sitting back at once: judges are safe to repeat', { timeout }, async () => {
    const project = slowProject({ slow: 'judge', stopGrace: '120s' })
    const running = await begun(project)
    running.child.kill(signal)
    expect(await running.ended).toMatchObject({ code: 130, signal: null })
    await noneLeft(project.folder)
    expect(await typesOf(project)).not.toContain('judge.unavailable')
    project.write({ 'tmp/go': '' })
    expect(await project.run(['resume'])).toMatchObject({ code: 0 })
    expect(project.logged('turns')).toEqual(['slow-1/slow 1'])
    const { verification } = await readJournal(project.folder)
    expect(verification.breaks).toEqual([])
  })
})

describe('a second Ctrl-C', () => {
  const sandboxes = [
    { name: 'with the sandbox that this machine has', env: {} },
    { name: 'without a sandbox', env: { PATH: '/bin:/usr/bin:/nonexistent' } },
  ]

  it.each(sandboxes)('ends at once, $name; what was under way is found by resume as after a crash', { timeout }, async ({ name, env }) => {
    const project = slowProject({ slow: 'worker', stopGrace: '1h' })
    if (name.startsWith('without')) hideSandbox(project, env)
    const running = await begun(project, env)
    running.child.kill('SIGINT')
    await whileRuns(running, 'it says that it stops', () => running.stderr().includes('again to end at once'))
    expect(processesOf(project.folder).length).toBeGreaterThan(0)
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, signal: null })
    await noneLeft(project.folder)
    project.write({ 'tmp/go': '' })
    const resumed = await project.run(['resume'], { env })
    await noneLeft(project.folder)
    expect(resumed.stderr).toContain('was cut off')
    const turns = project.logged('turns')
    expect(turns.length).toBe(new Set(turns).size)
    expect(await typesOf(project)).toContain('attempt.interrupted')
  })
})

/** A PATH with everything that the scripts need and no `bwrap`. */
function hideSandbox(project: Project, env: Record<string, string>): void {
  project.write({ 'bin/sleep': '#!/bin/sh\nexec /bin/sleep "$@"\n' })
  env.PATH = `${project.folder}/bin`
}

describe('a mission that waits', () => {
  it('for a judge that cannot be reached stops on Ctrl-C while it pauses', { timeout }, async () => {
    const project = slowProject({ slow: 'worker', stopGrace: '1s' })
    project.write({ 'tmp/go': '', 'judge.sh': '#!/bin/sh\necho down >&2\nexit 1\n' })
    const running = project.start(['run', 'mission.yaml'])
    await whileRuns(running, 'it asks', () => running.stderr().includes('no checks configured'))
    await until('a turn has ended', () => project.logged('turns').length === 1)
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, signal: null })
    await noneLeft(project.folder)
  })
})
