import { describe, expect, it } from 'vitest'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
const sandboxed = (await sandboxState()).usable
useAssay()

const accepted = async (project: Project) => (await project.events()).some(({ type }) => type === 'task.accepted')

describe('a worker that brings its own judge', () => {
  it.each(['scratch', 'folder: sub'])(
    'under the name that the judge is called by: the owner’s is run (workspace %s)',
    { timeout },
    async (workspace) => {
      const project = oneTask({
        worker: `echo "console.log('SCORE: 95')" > critic.mjs; echo done`,
        eyes: { argv: ['node', 'critic.mjs'] },
        review: { maxAttempts: 1 },
        task: { workspace },
      })
      project.write({ 'critic.mjs': "console.log('No.')\nconsole.log('SCORE: 10')\n", 'sub/x': '' })
      expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
      expect(await accepted(project)).toBe(false)
      const verdict = (await project.events()).find(({ type }) => type === 'verdict.recorded')
      expect(JSON.stringify(verdict?.data)).toContain('SCORE: 10')
    },
  )

  it('in the place of the folder that the judge lies in: it is not asked', { timeout }, async () => {
    const project = oneTask({
      worker: `mv judges gone; mkdir judges; printf '#!/bin/sh\\necho "SCORE: 95"\\n' > judges/critic.sh; chmod +x judges/critic.sh; echo done`,
      eyes: { argv: ['./judges/critic.sh'] },
      review: { maxAttempts: 1 },
      task: { workspace: 'folder: .' },
    })
    project.write({ 'judges/critic.sh': '#!/bin/sh\necho "SCORE: 10"\n' })
    await project.run(['run', 'm.yaml'])
    expect(await accepted(project)).toBe(false)
  })
})

describe('a check whose program lies in the work', () => {
  it('is run as the base has it', { timeout }, async () => {
    const project = oneTask({
      worker: 'printf "#!/bin/sh\\nexit 0\\n" > check.sh; echo done',
      review: { maxAttempts: 1 },
      task: { workspace: 'folder: .', checks: [{ kind: 'command', argv: ['./check.sh'] }] },
    })
    project.write({ 'check.sh': '#!/bin/sh\ntest -f work.txt\n' })
    await project.run(['run', 'm.yaml'])
    const failed = (await project.events()).find(({ type }) => type === 'checks.failed')
    expect(failed?.data).toMatchObject({ reports: [{ outcome: 'fail', findings: ['check.sh is protected and was edited'] }] })
  })

  it.skipIf(!sandboxed)('has no network unless it is given one', { timeout }, async () => {
    const project = oneTask({
      worker: 'echo done',
      review: { maxAttempts: 1 },
      task: {
        checks: ['false', 'true'].map((network) => ({
          id: `net-${network}`,
          kind: 'command',
          argv: ['sh', '-c', 'grep -c : /proc/net/dev'],
          network: network === 'true',
        })),
      },
    })
    await project.run(['run', 'm.yaml'])
    const { data } = (await project.events()).find(({ type }) => type === 'checks.passed') ?? {}
    const [own, all] = (data as { reports: { output: string }[] }).reports.map(({ output }) => Number(output))
    expect(own).toBe(1)
    expect(all).toBeGreaterThanOrEqual(1)
  })
})

describe('what was printed', () => {
  it('is part of what is judged: the same files with other words are judged again', { timeout }, async () => {
    const project = oneTask({
      worker: 'echo same > work.txt; echo "words of attempt $ASSAY_ATTEMPT"',
      judge: 'echo no; echo "SCORE: 30"',
    })
    await project.run(['run', 'm.yaml'])
    expect(project.logged('sittings')).toHaveLength(2)
    expect((await project.events()).some(({ type }) => type === 'decision.reused')).toBe(false)
  })
})

describe("the owner's word", () => {
  it('is not taken from a token that the caller made', { timeout }, async () => {
    const project = oneTask({ worker: 'echo done', judge: 'echo "SCORE: 80"' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    project.write({ 'mine/assay/owner-token': 'mine\n' })
    const forged = { XDG_CONFIG_HOME: `${project.folder}/mine`, ASSAY_OWNER_TOKEN: 'mine' }
    const refused = await project.run(['overrule', 'a', 'fail', '--reason', 'x'], { env: forged })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('not that of this project') })
    expect((await project.asOwner(['overrule', 'a', 'fail', '--reason', 'x'])).code).toBe(0)
  })

  it('opens a finished mission: resume goes on with it', { timeout }, async () => {
    const project = oneTask({ worker: 'echo "done $ASSAY_ATTEMPT"' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect((await project.asOwner(['overrule', 'a', 'fail', '--reason', 'again'])).code).toBe(0)
    expect((await project.run(['resume'])).code).toBe(0)
    expect(project.logged('turns')).toEqual(['1', '2'])
  })
})

describe('assay review', () => {
  it('of nothing is refused, and the checks of the configuration count', { timeout }, async () => {
    const project = makeProject({
      'assay.yaml': {
        brains: { eyes: { kind: 'command', argv: ['./judge.sh'] } },
        agents: { qa: { role: 'reviewer', brain: 'eyes' } },
        checks: [{ kind: 'file', path: 'must.txt' }],
      },
      'judge.sh': '#!/bin/sh\necho "SCORE: 90"\n',
      'empty.txt': '',
      'a.txt': 'a',
    })
    expect(await project.run(['review', 'empty.txt'])).toMatchObject({ code: 2, stderr: expect.stringContaining('empty') })
    expect((await project.run(['review', 'a.txt'])).code).toBe(1)
  })
})
