import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accept, failure, reject } from '../src/testing/model-server/answers.ts'
import { type ModelServer, type Script, startModelServer } from '../src/testing/model-server/server.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

async function withJudge(script: Script, files: Record<string, string | object> = {}): Promise<[Project, ModelServer, string[]]> {
  const server = await startModelServer(script)
  onTestFinished(() => server.close())
  const project = makeProject({ 'work.md': 'Hello, world.\n', ...files })
  return [project, server, ['--provider', 'openai-compatible', '--model', 'any', '--base-url', server.baseURL('openai-compatible')]]
}

describe('what is wrong is said before a judge is paid', () => {
  it.each<[string, string, string, RegExp]>([
    ['a broken list', 'c.json', '["one",', /c\.json:1:\d+: /],
    ['a broken document', 'c.yaml', 'a: [b\n- c', /c\.yaml:\d+:\d+: /],
    ['a list with another name', 'criteria', '["one", "two"', /criteria:1:\d+: /],
    ['a mapping', 'c.yaml', 'criteria: [one]\n', /c\.yaml: the file of criteria is no list/],
    ['an empty file', 'c.txt', ' \n\n', /c\.txt: the file of criteria is empty/],
    ['an empty list', 'c.yaml', '[]\n', /c\.yaml: the file of criteria is an empty list/],
  ])('criteria in %s', { timeout }, async (_what, file, text, says) => {
    const [project, server, judge] = await withJudge((request) => accept(request), { [file]: text })
    const { code, stderr } = await project.run(['review', 'work.md', '--criteria', file, ...judge])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(says) })
    expect(server.requests).toHaveLength(0)
  })

  it('a report that cannot be written', { timeout }, async () => {
    const [project, server, judge] = await withJudge((request) => accept(request))
    mkdirSync(join(project.folder, 'taken'))
    for (const file of ['taken', 'work.md/report.json']) {
      const { code, stderr } = await project.run(['review', 'work.md', '--format', `json=${file}`, ...judge])
      expect(code).toBe(2)
      expect(stderr).toContain(`--format json=${file}: the file cannot be written`)
    }
    expect(server.requests).toHaveLength(0)
    expect((await project.run(['review', 'work.md', '--format', 'json=new/report.json', ...judge])).code).toBe(0)
    expect(project.read('new/report.json')).toContain('"clean"')
  })

  it('a bound on money without prices, and no file is blamed that is not there', { timeout }, async () => {
    const [project, server, judge] = await withJudge((request) => accept(request))
    const { code, stderr } = await project.run(['review', 'work.md', '--max-cost', '1', ...judge])
    expect(code).toBe(2)
    expect(stderr).toContain('a review needs prices to count with, for --max-cost')
    expect(stderr).not.toMatch(/^assay\.yaml/m)
    expect(server.requests).toHaveLength(0)
  })
})

it('a file name forges no line and no command', { timeout }, async () => {
  const [project, , judge] = await withJudge((request) => accept(request))
  const name = 'a\n::error::forged\u001b[31m\u202e.md'
  writeFileSync(join(project.folder, name), 'Hello, world.\n')
  const { code, stderr } = await project.run(['review', name, ...judge])
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('Reviewing file a ::error::forged⟦U+001B⟧[31m⟦U+202E⟧.md')
  const gone = await project.run(['task', 'show', name])
  const unknown = await project.run([name])
  for (const said of [stderr, gone.stderr, unknown.stderr]) {
    expect(said).toContain('forged')
    expect(said).not.toMatch(/^\s*::|\u202e/m)
    expect(said).not.toContain('\u001b')
  }
})

it('a rejection is not rolled again by a flag that cannot matter', { timeout }, async () => {
  const [project, server, judge] = await withJudge((request) => (request.number === 1 ? reject(request) : accept(request)))
  const args = ['review', 'work.md', '--criteria', 'it says hello', ...judge]
  const codes = [await project.run(args), await project.run([...args, '--max-attempts', '7'])].map(({ code }) => code)
  expect(codes).toEqual([1, 1])
  expect(server.requests).toHaveLength(1)
  expect((await project.run([...args, '--eval-threshold', '70'])).code, 'another bar is another question').toBe(0)
})

it('a panel with fewer independent judges than its quorum says so', { timeout }, async () => {
  const server = await startModelServer((request) => accept(request))
  onTestFinished(() => server.close())
  const brain = { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible'), model: 'any' }
  const project = makeProject({
    'work.md': 'Hello, world.\n',
    'assay.yaml': { brains: { eyes: brain }, agents: { qa: { role: 'reviewer', brain: 'eyes' } } },
  })
  const { stdout } = await project.run(['review', 'work.md', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ degraded: { quorum: 1 }, warnings: [expect.stringContaining('quorum 1, degraded')] })
  expect((await project.run(['why', 'review-1/subject'])).stdout).toContain('degraded')
  expect((await project.run(['task', 'show', 'review-1/subject'])).stdout).toContain('panel     quorum 1, degraded')
})

it('a review that came to no end under flags of its own does not stop a resume', { timeout }, async () => {
  const [project, , judge] = await withJudge(() => failure(401), {
    'assay.yaml': {
      brains: { eyes: { kind: 'scripted', file: 'eyes.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'eyes' }, qa: { role: 'reviewer', brain: 'eyes' } },
    },
    'eyes.yaml': 'judges: []\n',
  })
  expect((await project.run(['review', 'work.md', ...judge])).code).toBe(3)
  const { code, stderr } = await project.run(['resume'])
  expect(stderr).toContain('review-1 was a review under another configuration')
  expect(code).toBe(0)
  expect((await project.run(['resume', 'review-1'])).code, 'asked for by name, it is refused').toBe(2)
})

it('a server that is silent is given up before one that answers slowly', { timeout }, async () => {
  const server = await startModelServer((request) => ({ ...accept(request), delivery: { how: 'hang', before: 'headers' } }))
  onTestFinished(() => server.close())
  const brain = { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible'), model: 'any' }
  const project = makeProject({
    'work.md': 'Hello, world.\n',
    'assay.yaml': {
      brains: { eyes: brain },
      agents: { qa: { role: 'reviewer', brain: 'eyes' } },
      limits: { judgeFirstByte: '300ms', judgeRequest: '60s', judgeRetries: 0 },
    },
  })
  const { code, stdout } = await project.run(['review', 'work.md', '--json'])
  expect(code).toBe(3)
  expect(stdout).toContain('no answer within 300 ms')
})
