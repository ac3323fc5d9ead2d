import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { endsOf, openTurns } from './front-door/crash-mission.ts'
import { readJournal } from './front-door/journal.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 900_000
const killAt = fileURLToPath(new URL('./front-door/kill-at.ts', import.meta.url))
/** ASSAY_CRASH_FULL=1 dies at every boundary; otherwise at every n-th. */
const step = process.env.ASSAY_CRASH_FULL === '1' ? 1 : Number(process.env.ASSAY_CRASH_STEP ?? 10)
useAssay()

const git = (project: Project, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], {
    cwd: project.folder,
    encoding: 'utf8',
  }).trim()

/** Two tasks of one repository, and a third behind a quality gate on both; everything is merged, checked again and gated. */
function gatedWorktrees(): Project {
  const task = (title: string, more: object = {}) => ({ title, assignTo: 'dev', workspace: 'worktree', description: title, ...more })
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { maxAttempts: 3, panel: { size: 1, quorum: 1 } },
      concurrency: 2,
      limits: { workerLease: '2s' },
    },
    'mission.yaml': {
      name: 'Join',
      tasks: [task('one', { checks: [{ kind: 'file', path: 'one.txt' }] }), task('two'), task('three')],
      qualityGates: [{ name: 'both', afterTasks: ['one', 'two'], blocksTasks: ['three'], requireAllPassed: true }],
    },
    'brain.yaml': { judges: { '*': [{ accept: true, scores: 4 }] } },
  })
  project.write({
    'worker.sh': `#!/bin/sh\necho "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log('turns')}'\nname="\${ASSAY_TASK##*/}"\necho "$name" > "$name.txt"\necho done\n`,
  })
  git(project, 'init', '-q', '-b', 'main')
  git(project, 'add', 'worker.sh', 'assay.yaml', 'mission.yaml', 'brain.yaml')
  git(project, 'commit', '-qm', 'as it was')
  return project
}

const result = (project: Project) =>
  git(project, 'ls-tree', '--name-only', 'assay/join-1/result')
    .split('\n')
    .filter((name) => name.endsWith('.txt'))

describe('kill -9 while work is merged and gated', () => {
  it('at any event, then resume: everything lands once, nothing is behind its gate too early', { timeout }, async () => {
    const calm = gatedWorktrees()
    const log = calm.log('commits')
    const { code, stderr } = await calm.run(['run', 'mission.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_LOG: log } })
    expect(code, stderr).toBe(0)
    const expected = endsOf((await readJournal(calm.folder)).rows)
    expect(result(calm)).toEqual(['one.txt', 'three.txt', 'two.txt'])
    const boundaries = [...new Set(readFileSync(log, 'utf8').trim().split('\n').map(Number))].filter((count) => count > 0)
    const moments = boundaries.filter((_, index) => index % step === step - 1)
    expect(moments.length).toBeGreaterThan(1)

    for (const moment of moments) {
      const project = gatedWorktrees()
      const died = await project.run(['run', 'mission.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_AT: `after:${moment}` } })
      expect(died.signal, `a death after event ${moment}`).toBe('SIGKILL')
      const cut = openTurns((await readJournal(project.folder)).events)
      const resumed = await project.run(['resume'])
      const after = await readJournal(project.folder)
      const label = `after:${moment}; ${resumed.stderr.slice(-600)}`
      expect(resumed.code, label).toBe(0)
      const ends = endsOf(after.rows)
      for (const [task, end] of Object.entries(expected)) expect({ ...ends[task], attempt: 0 }, label).toEqual({ ...end, attempt: 0 })
      expect(result(project), label).toEqual(['one.txt', 'three.txt', 'two.txt'])
      const turns = project.logged('turns')
      expect(turns.length, 'no turn ran twice').toBe(new Set(turns).size)
      const types = after.events.map(({ type }) => type)
      expect(
        types.filter((type) => type === 'quality.gate.passed'),
        label,
      ).toHaveLength(1)
      expect(
        types.filter((type) => type === 'merge.published'),
        label,
      ).toHaveLength(3)
      expect(
        types.filter((type) => type === 'attempt.interrupted'),
        label,
      ).toHaveLength(cut.length)
      const gate = types.indexOf('quality.gate.passed')
      const third = after.events.findIndex(({ type, stream }) => type === 'attempt.started' && stream.endsWith('/three'))
      expect(third, label).toBeGreaterThan(gate)
      expect(after.verification.breaks).toEqual([])
      expect(after.differing).toEqual([])
    }
  })
})
