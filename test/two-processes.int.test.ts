import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { readJournal } from './front-door/journal.ts'
import { noneLeft, whileRuns } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

/** Tasks that need rework, so that two processes have something to do for each other. */
function busyProject(tasks: number): Project {
  const titles = Array.from({ length: tasks }, (_, index) => `t${index + 1}`)
  const missionOf = (name: string) => ({
    name,
    tasks: titles.map((title, index) => ({
      title,
      assignTo: 'dev',
      description: 'Good the second time.',
      ...(index % 3 === 2 && { dependsOn: [titles[index - 1]] }),
    })),
  })
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, eyes: { kind: 'command', argv: ['./judge.sh'] } },
      agents: {
        dev: { role: 'engineer', brain: 'hands' },
        ada: { role: 'reviewer', brain: 'eyes', instructions: 'One.' },
        bob: { role: 'reviewer', brain: 'eyes', instructions: 'Two.' },
      },
      review: { panel: { size: 2 } },
      concurrency: 2,
    },
    'one.yaml': missionOf('One'),
    'two.yaml': missionOf('Two'),
  })
  project.write({
    'worker.sh': `#!/bin/sh
echo "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log('turns')}'
sleep 0.1
echo "attempt $ASSAY_ATTEMPT" > work.txt
echo done
`,
    'judge.sh': `#!/bin/sh
echo "$ASSAY_TASK $ASSAY_REVIEW $ASSAY_SEAT $ASSAY_ROUND" >> '${project.log('judgings')}'
if [ "$ASSAY_ATTEMPT" = 1 ]; then echo 'SCORE: 40'; else echo 'SCORE: 80'; fi
`,
  })
  return project
}

/** Every task twice, every judge twice on each of them, each exactly once. */
async function expectExact(project: Project, tasks: number): Promise<void> {
  const turns = project.logged('turns')
  const judgings = project.logged('judgings')
  expect(turns).toHaveLength(tasks * 2)
  expect(new Set(turns).size).toBe(tasks * 2)
  expect(judgings).toHaveLength(tasks * 4)
  expect(new Set(judgings).size).toBe(tasks * 4)
  await noneLeft(project.folder)
  const { rows, verification, differing, events } = await readJournal(project.folder)
  expect(rows.map(({ flag, attempt }) => `${flag} ${attempt}`)).toEqual(rows.map(() => 'clean 2'))
  expect(rows).toHaveLength(tasks)
  expect(verification.breaks).toEqual([])
  expect(differing).toEqual([])
  const finished = events.filter(({ type }) => type === 'mission.finished')
  expect(finished).toHaveLength(new Set(finished.map(({ stream }) => stream)).size)
}

describe('two processes in one folder', () => {
  it('share a mission that both were told to run: the second joins the first', { timeout }, async () => {
    const project = busyProject(6)
    const first = project.start(['run', 'one.yaml'])
    await whileRuns(first, 'a turn has begun', () => project.logged('turns').length > 0)
    const second = await project.run(['run', 'one.yaml'])
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining('one-1 was not finished; going on with it') })
    expect(await first.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('6 clean') })
    expect(second.stdout).toContain('6 clean')
    await expectExact(project, 6)
  })

  it('start at the very same moment, on a folder without a journal: one run comes of it', { timeout }, async () => {
    const project = busyProject(3)
    const ends = await Promise.all(Array.from({ length: 4 }, () => project.run(['run', 'one.yaml'])))
    for (const end of ends) expect(end, end.stderr).toMatchObject({ code: 0, signal: null })
    await expectExact(project, 3)
  })

  it('run and resume at once', { timeout }, async () => {
    const project = busyProject(4)
    const running = project.start(['run', 'one.yaml'])
    await whileRuns(running, 'a turn has begun', () => project.logged('turns').length > 0)
    const resumed = await project.run(['resume'])
    expect(resumed, resumed.stderr).toMatchObject({ code: 0 })
    expect((await running.ended).code).toBe(0)
    await expectExact(project, 4)
  })

  it('run two missions at once, neither of them the other one’s', { timeout }, async () => {
    const project = busyProject(3)
    const [one, two] = await Promise.all([project.run(['run', 'one.yaml']), project.run(['run', 'two.yaml'])])
    expect(one, one.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('3 clean') })
    expect(two, two.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('3 clean') })
    await expectExact(project, 6)
  })

  it('of which one dies: the other takes its work over when the lease runs out', { timeout }, async () => {
    const project = busyProject(4)
    project.write({ 'assay.yaml': `${project.read('assay.yaml')}limits: { workerLease: 1s }\n` })
    const first = project.start(['run', 'one.yaml'])
    await whileRuns(first, 'a turn has begun', () => project.logged('turns').length > 0)
    const second = project.start(['run', 'one.yaml'])
    await whileRuns(second, 'the second has joined', () => second.stderr().includes('going on with it'))
    first.child.kill('SIGKILL')
    expect((await first.ended).signal).toBe('SIGKILL')
    const { code, stderr } = await second.ended
    expect([0, 1, 3], stderr).toContain(code)
    const { rows, events, verification } = await readJournal(project.folder)
    expect(rows.filter(({ status }) => status === 'done' || status === 'held' || status === 'waiting')).toHaveLength(4)
    const turns = project.logged('turns')
    expect(turns.length).toBe(new Set(turns).size)
    const interrupted = events.filter(({ type }) => type === 'attempt.interrupted').length
    const started = events.filter(({ type }) => type === 'attempt.started').length
    expect(started - turns.length, 'a turn that was begun and not run was cut').toBeLessThanOrEqual(interrupted)
    expect(verification.breaks).toEqual([])
    await noneLeft(project.folder)
  })
})
