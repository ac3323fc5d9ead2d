import { execFileSync } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { play } from '../examples/failing-test/play.ts'
import { stageRepository } from '../examples/failing-test/rehearse.ts'
import { puppet } from '../src/testing/model-server/puppet.ts'
import { startModelServer } from '../src/testing/model-server/server.ts'
import { plainEnv, useAssay } from './front-door/assay.ts'
import { makeProject } from './front-door/project.ts'

const timeout = 180_000
useAssay()

describe('the example with a failing test', () => {
  it('is mended by a model in a worktree, rejected once for weak_test, reworked, accepted and committed', { timeout }, async () => {
    const server = await startModelServer(puppet(play))
    onTestFinished(() => server.close())
    const project = makeProject()
    const env = plainEnv(project.folder)
    const model = { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible') }
    const brains = { hands: { ...model, model: 'worker' }, eyes: { ...model, model: 'judge' } }
    await stageRepository({ folder: project.folder, env }, { brains })
    const git = (...words: string[]) => execFileSync('git', words, { cwd: project.folder, encoding: 'utf8' }).trim()
    const failing = () => execFileSync(process.execPath, ['--test'], { cwd: project.folder, env, stdio: 'ignore' })
    expect(failing).toThrow()

    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout + stderr).toBe(0)

    const [first, second] = (
      await project.json<{ attempt: number; outcome: string; category: string | null }>(['ledger', 'mend-the-failing-test'])
    ).lines
    expect([first, second]).toMatchObject([
      { attempt: 1, outcome: 'reject', category: 'weak_test', points: expect.arrayContaining([expect.stringContaining('assert.throws')]) },
      { attempt: 2, outcome: 'pass', category: null },
    ])
    const result = 'assay/mend-durations-1/result'
    expect(git('log', '-1', '--format=%B', result)).toMatch(/Assay-Accepted: clean/)
    expect(git('diff', '--name-only', `main..${result}`).split('\n')).toEqual(['lib/duration.mjs', 'test/refused.test.mjs'])
    expect(git('show', `${result}:test/refused.test.mjs`)).toContain('assert.throws')
    expect(git('status', '--porcelain', '--', 'lib', 'test')).toBe('')

    // One conversation: the second round goes on where the first one ended, with the feedback as the answer of its case.
    const worked = server.requests.filter(({ json }) => json.model === 'worker')
    expect(worked).toHaveLength(4)
    const messages = worked.map(({ json }) => json.messages as unknown[])
    expect(messages.at(-1)?.slice(0, messages[0]?.length)).toEqual(messages[0])
    expect(JSON.stringify(messages[2]?.at(-1))).toContain('weak_test')
  })
})
