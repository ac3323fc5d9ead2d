import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
const killAt = fileURLToPath(new URL('./front-door/kill-at.ts', import.meta.url))
useAssay()

const git = (project: Project, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], {
    cwd: project.folder,
    encoding: 'utf8',
  }).trim()

/** One poor task, and one behind a gate on it. */
function poor(more: object = {}): Project {
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { maxAttempts: 1, onExhausted: 'fail', panel: { size: 1, quorum: 1 } },
    },
    'brain.yaml': { judges: { '*': [{ accept: false, scores: 2 }] } },
    'worker.sh': '#!/bin/sh\necho work > work.txt\necho done\n',
    ...more,
  })
  git(project, 'init', '-q', '-b', 'main')
  git(project, 'add', 'worker.sh', 'assay.yaml', 'm.yaml', 'brain.yaml')
  git(project, 'commit', '-qm', 'as it was')
  return project
}

describe('the owner’s word after a run has finished', () => {
  it('opens the run for the merge that it asks for', { timeout }, async () => {
    const project = poor({
      'm.yaml': { name: 'M', tasks: [{ title: 'a', assignTo: 'dev', workspace: 'worktree', description: 'a' }] },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect((await project.asOwner(['overrule', 'm-1/a', 'pass', '--reason', 'good enough'])).code).toBe(0)
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(git(project, 'ls-tree', '--name-only', 'assay/m-1/result').split('\n')).toContain('work.txt')
  })

  it('comes too late for a question that was withdrawn, and is told why', { timeout }, async () => {
    const project = poor({
      'm.yaml': {
        name: 'M',
        tasks: ['a', 'b'].map((title) => ({ title, assignTo: 'dev', description: title, expectsDiff: false })),
        qualityGates: [{ name: 'g', afterTasks: ['a'], blocksTasks: ['b'], requireAllPassed: true }],
      },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect((await project.asOwner(['mission', 'retry', 'm-1'])).code).toBe(0)
    const late = await project.asOwner(['requests', 'answer', 'm-1/gate:g#1', 'waive', '--reason', 'let it go'])
    expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/withdrawn: m-1\/a/)])
    expect((await project.run(['resume'])).code).toBe(1)
    expect((await project.asOwner(['requests', 'answer', 'm-1/gate:g#2', 'waive', '--reason', 'let it go'])).code).toBe(0)
    await project.run(['resume'])
    const gate = (await project.events()).filter(({ stream }) => stream === 'gate/m-1/g').map(({ type }) => type)
    expect(gate.slice(-2)).toEqual(['operator.answered', 'gate.waived'])
    expect((await project.events()).some(({ stream, type }) => stream === 'task/m-1/b' && type === 'attempt.started')).toBe(true)
  })
})

describe('kill -9 while the owner turns what a gate has passed', () => {
  it('at every commit: the gate is shut and the run open as soon as the input is open, and nothing behind it starts too early', {
    timeout: 600_000,
  }, async () => {
    const passed = async () => {
      const project = makeProject({
        'assay.yaml': {
          brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
          agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
          review: { panel: { size: 1, quorum: 1 } },
        },
        'm.yaml': {
          name: 'M',
          tasks: [
            { title: 'a', assignTo: 'dev', description: 'a' },
            { title: 'b', assignTo: 'dev', description: 'b', dependsOn: ['a'] },
          ],
          qualityGates: [{ name: 'g', afterTasks: ['a'], blocksTasks: ['b'], requireAllPassed: true }],
        },
        'brain.yaml': {
          workers: { '*': [{ write: { 'x.txt': '1' } }, { write: { 'x.txt': '2' } }] },
          judges: { '*': [{ accept: true, scores: 4 }] },
        },
      })
      expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
      return project
    }
    let deaths = 0
    // ASSAY_CRASH_FULL=1 dies at every commit there is; otherwise at every other one.
    for (let commit = 1; ; commit += process.env.ASSAY_CRASH_FULL === '1' ? 1 : 2) {
      const project = await passed()
      const env = { KILL_AT: `commit:${commit}`, ASSAY_OWNER_TOKEN: 'the owner of the test' }
      const died = await project.run(['overrule', 'm-1/a', 'fail', '--reason', 'not so'], { nodeFlags: ['--import', killAt], env })
      const events = await project.events()
      const find = (stream: string, type: string) => events.find((event) => event.stream === stream && event.type === type)?.position
      const opened = find('task/m-1/a', 'task.reopened')
      expect(find('gate/m-1/g', 'gate.reopened') === undefined, `commit ${commit}`).toBe(opened === undefined)
      expect(find('mission/m-1', 'mission.reopened') === undefined, `commit ${commit}`).toBe(opened === undefined)
      if (opened !== undefined) {
        expect((await project.run(['resume'])).code, `commit ${commit}`).toBe(0)
        const after = await project.events()
        const last = (stream: string, type: string) => after.findLast((event) => event.stream === stream && event.type === type)?.position
        expect(last('task/m-1/b', 'attempt.started')).toBeGreaterThan(last('gate/m-1/g', 'quality.gate.passed') ?? Number.POSITIVE_INFINITY)
      }
      if (died.signal !== 'SIGKILL') break
      deaths += 1
    }
    expect(deaths).toBeGreaterThan(1)
  })
})
