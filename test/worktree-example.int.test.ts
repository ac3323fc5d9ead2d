import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
const example = join(import.meta.dirname, '..', 'examples', 'worktree')
useAssay()

function repository(): { project: Project; git: (...words: string[]) => string } {
  const project = makeProject()
  cpSync(example, project.folder, { recursive: true })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], {
      cwd: project.folder,
      encoding: 'utf8',
    }).trim()
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'The shop as it is')
  return { project, git }
}

describe('the worktree example', () => {
  it('merges two tasks, catches what the second breaks of the first, and sends it back uncharged', { timeout }, async () => {
    const { project, git } = repository()
    project.write({ 'shop/price.mjs': `${project.read('shop/price.mjs')}// not committed\n` })
    const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain', '--', 'shop', 'test'), git('branch', '--show-current')]
    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout + stderr).toBe(0)
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain', '--', 'shop', 'test'), git('branch', '--show-current')]).toEqual(before)

    const events = await project.events()
    const about = (task: string) => events.filter(({ stream }) => stream === `task/open-the-shop-1/${task}`)
    const failed = about('count-in-cents').filter(({ type }) => type === 'merge.failed')
    expect(failed).toHaveLength(1)
    expect(failed[0]?.data).toMatchObject({
      cause: 'checks',
      charged: false,
      reports: [{ id: 'regression:open-the-shop-1/add-discounts:discounts', outcome: 'fail' }],
    })
    expect(about('add-discounts').some(({ type }) => type === 'merge.failed')).toBe(false)
    for (const task of ['add-discounts', 'count-in-cents'])
      expect(
        about(task)
          .map(({ type }) => type)
          .slice(-2),
      ).toEqual(['merge.published', 'task.accepted'])

    const result = 'assay/open-the-shop-1/result'
    expect(git('show', `${result}:shop/price.mjs`)).toContain('Math.round')
    expect(git('show', `${result}:shop/discount.mjs`)).toContain('priceOf')
    expect(git('log', '--format=%B', result)).toMatch(/Assay-Accepted: clean/)
    expect(git('show', 'main:shop/price.mjs')).not.toContain('Math.round')
  })

  it('brings a conflict back as feedback, with the markers in the workspace', { timeout }, async () => {
    const { project, git } = repository()
    project.write({
      'mission.yaml': {
        name: 'Both',
        tasks: ['first', 'second'].map((title) => ({ title, assignTo: 'dev', workspace: 'worktree', description: 'Change the line.' })),
      },
      'assay.yaml': {
        brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, canned: { kind: 'scripted', file: 'brain.yaml' } },
        agents: { dev: { role: 'engineer', brain: 'hands' }, ada: { role: 'reviewer', brain: 'canned' } },
        review: { panel: { size: 1, quorum: 1 } },
        concurrency: 2,
      },
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in */second) [ "$ASSAY_ATTEMPT" = 1 ] && sleep 3 ;; esac
grep -q '<<<<<<<' line.txt && echo conflict >> '${project.log('seen')}'
echo "by \${ASSAY_TASK#*/} $ASSAY_ATTEMPT" > line.txt
echo done
`,
    })
    project.write({ 'line.txt': 'as it was\n' })
    git('add', '.')
    git('commit', '-qm', 'a line')
    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout + stderr).toBe(0)
    expect(project.logged('seen')).toEqual(['conflict'])
    const failed = (await project.events()).filter(({ type }) => type === 'merge.failed')
    expect(failed.map(({ data }) => data)).toMatchObject([{ cause: 'conflict', paths: ['line.txt'], charged: false }])
    expect(git('show', 'assay/both-1/result:line.txt')).toBe('by second 2')
  })

  it('commits work that was taken below the bar with a trailer that says so', { timeout }, async () => {
    const { project, git } = repository()
    project.write({
      'brain.yaml': {
        workers: { '*': [{ write: { 'x.txt': 'x\n' } }] },
        judges: { '*': [{ accept: false, scores: 2, category: 'half_finished' }] },
      },
      'mission.yaml': { name: 'Low', tasks: [{ title: 'low', assignTo: 'dev', workspace: 'worktree', description: 'x' }] },
    })
    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml', '--max-attempts', '1'])
    expect(code, stdout + stderr).toBe(1)
    expect(git('log', '-1', '--format=%B', 'assay/low-1/result')).toMatch(/Assay-Accepted: below-threshold[\s\S]*Assay-Score: 40\/100/)
  })
})
