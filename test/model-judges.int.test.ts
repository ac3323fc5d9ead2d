import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { accept, failure, reject, say, use } from '../src/testing/model-server/answers.ts'
import { type ModelServer, type Script, startModelServer } from '../src/testing/model-server/server.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

/** The two files of SPEC §18, as they stand there but for the port and the mission's second task, gate and threshold. */
const config = `version: 1
brains:
  judge:  { kind: model, provider: openai-compatible, baseURL: http://127.0.0.1:4010/v1, model: any, apiKeyEnv: JUDGE_KEY }
  shell:  { kind: command, argv: [./worker.sh] }
  claude: { kind: agent, agent: claude }
  canned: { kind: scripted, file: brain.yaml }
agents:
  lead: { role: manager, brain: judge }
  dev:  { role: engineer, reportsTo: lead, brain: shell }
  qa:   { role: reviewer, brain: judge }
  qa2:  { role: reviewer, brain: judge, instructions: Look for what is missing. }
  qa3:  { role: reviewer, brain: judge, instructions: Try to break it. }
review: { threshold: 60, maxAttempts: 2, panel: { size: 3, mode: full } }
concurrency: 8
`
const mission = `name: Build feature X
tasks:
  - { title: Implement core module, assignTo: dev, description: Write core.txt, acceptanceCriteria: [core.txt exists, it says hello], checks: [{ kind: file, path: core.txt }] }
`

async function withModel(
  script: Script,
  changes: (config: Record<string, never>) => object = (same) => same,
): Promise<[Project, ModelServer]> {
  const server = await startModelServer(script)
  onTestFinished(() => server.close())
  const written = parse(config.replace('http://127.0.0.1:4010/v1', server.baseURL('openai-compatible'))) as Record<string, never>
  const project = makeProject({
    'assay.yaml': stringify(changes(written)),
    'mission.yaml': mission,
    'AGENTS.md': 'No emoji.',
    'worker.sh': '#!/bin/sh\necho "hello $ASSAY_ATTEMPT" > core.txt\necho "It says hello."\n',
  })
  return [project, server]
}

describe('models as judges', () => {
  it('pass good work with the files of the specification, and every verdict names the prompt it answered', { timeout }, async () => {
    const [project, server] = await withModel((request) => accept(request))
    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout + stderr).toBe(0)
    expect(stderr).toContain('JUDGE_KEY')
    expect(server.requests).toHaveLength(3)
    expect(server.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true)
    const verdicts = (await project.events()).filter(({ type }) => type === 'verdict.recorded')
    expect(verdicts).toHaveLength(3)
    for (const { data } of verdicts)
      expect(data).toMatchObject({ prompt: expect.stringMatching(/^sha256:/), sitting: { outcome: 'graded' } })
  })

  it('see task, criteria, work, case and checks, and look around in the snapshot before they answer', { timeout }, async () => {
    const [project, server] = await withModel((request) => (request.number <= 3 ? use('read_file', { path: 'core.txt' }) : accept(request)))
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(0)
    const [first] = server.requests
    const last = server.requests.at(-1)
    const asked = first?.text
    for (const part of ['Write core.txt', 'it says hello', 'It says hello.', 'file-1: pass', 'hello 1']) expect(asked).toContain(part)
    expect(last?.text).toContain('hello 1')
  })

  it('send work back with what to do, and judge the points again', { timeout }, async () => {
    const [project, server] = await withModel((request) =>
      request.number <= 3 ? reject(request, { next_step: 'Say it louder.' }) : accept(request),
    )
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(0)
    expect(server.requests.at(-1)?.text).toContain('Say it louder.')
    expect((await project.events()).filter(({ type }) => type === 'attempt.started')).toHaveLength(2)
  })

  it('that cannot be reached hold the review, uncharged; a later run goes on with the verdicts there are', { timeout }, async () => {
    let down = true
    const [project] = await withModel(
      (request) => (down ? failure(503) : accept(request)),
      (written) => ({ ...written, limits: { judgeRetries: 0 } }),
    )
    const first = await project.start(['run', 'mission.yaml'])
    const events = async () => (await project.events()).map(({ type }) => type)
    await expect.poll(events, { timeout: 30_000, interval: 200 }).toContain('task.held')
    first.child.kill('SIGINT')
    await first.ended
    expect(await events()).not.toContain('review.decided')
    down = false
    expect((await project.run(['resume'])).code).toBe(0)
    expect((await events()).filter((type) => type === 'attempt.started')).toHaveLength(1)
  })

  it('that only talk give no verdict and no pass', { timeout }, async () => {
    const [project, server] = await withModel(() => say('Looks great! SCORE: 100. {"verdict":"accept"}'))
    const { code } = await project.run(['run', 'mission.yaml'])
    expect(code).not.toBe(0)
    expect(server.requests.length).toBeGreaterThan(3)
    const events = await project.events()
    expect(events.some(({ type }) => type === 'task.eval.unparsed')).toBe(true)
    expect(events.some(({ type }) => type === 'task.accepted')).toBe(false)
  })

  const priced = (maxCost: number) => (written: Record<string, never>) => {
    const { brains, review } = written as unknown as { brains: Record<string, object>; review: object }
    const judge = { ...brains.judge, prices: { inputPerMillion: 100, outputPerMillion: 5000 }, maxOutputTokens: 2_000 }
    return { ...written, brains: { ...brains, judge }, review: { ...review, maxCost }, concurrency: 1 }
  }

  it('cost what their prices say; the call that could pass the bound is not made, and the review is held', { timeout }, async () => {
    // 100 tokens in and 20 out are $0.11 a call; one of 2,000 tokens out would be over $10.
    const [project, server] = await withModel((request) => reject(request), priced(10.4))
    const { code, stdout } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout).toBe(3)
    expect(server.requests.length).toBeGreaterThan(0)
    const spent = server.requests.length * 0.11
    const held = (await project.events()).find(({ type }) => type === 'task.held')
    expect(held?.data).toMatchObject({
      reason: 'budget',
      detail: expect.stringMatching(
        new RegExp(`has cost \\$${spent.toFixed(4)}, and asking \\w+ may cost \\$10\\.\\d\\d more; .*maxCost.* \\$10\\.40`),
      ),
    })
    expect(spent).toBeLessThan(10.4)
  })

  it('that do not say what they used have cost what they could: the bound holds, and is shown', { timeout }, async () => {
    const silent = (request: Parameters<typeof accept>[0]) => ({ ...accept(request), tokens: { input: -1, output: -1 } })
    const [project, server] = await withModel(silent, priced(15))
    const { code, stdout } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout).toBe(3)
    expect(server.requests).toHaveLength(1)
    expect(stdout).toMatch(/Judging: 1 call, .*\$10\.\d{4} \(1 estimated\)/)
    const events = await project.events()
    expect(events.find(({ type }) => type === 'task.held')?.data).toMatchObject({ reason: 'budget' })
    expect(events.find(({ type }) => type === 'verdict.recorded')?.data).toMatchObject({ sitting: { usage: { estimated: true } } })
  })

  it('are not asked at all where one answer could cost more than the bound', { timeout }, async () => {
    const [project, server] = await withModel((request) => accept(request), priced(5))
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(3)
    expect(server.requests).toHaveLength(0)
    expect((await project.events()).find(({ type }) => type === 'task.held')?.data).toMatchObject({ reason: 'budget' })
  })
})
