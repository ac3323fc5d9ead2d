import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accept, failure, reject, say } from '../src/testing/model-server/answers.ts'
import { type ModelServer, type Script, startModelServer } from '../src/testing/model-server/server.ts'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

async function withJudge(script: Script, files: Record<string, string | object> = {}): Promise<[Project, ModelServer, string[]]> {
  const server = await startModelServer(script)
  onTestFinished(() => server.close())
  const project = makeProject({ 'work.md': 'Hello, world.\n', ...files })
  return [project, server, ['--provider', 'openai-compatible', '--model', 'any', '--base-url', server.baseURL('openai-compatible')]]
}

interface Report {
  result: string
  subject: { kind: string; digest: string }
  criteria: { id: string; text: string }[]
}
const jsonOf = (text: string) => JSON.parse(text) as Report

describe('assay review', () => {
  it('passes a file without any configuration, and keeps every step', { timeout }, async () => {
    const [project, server, judge] = await withJudge((request) => accept(request))
    const { code, stdout, stderr } = await project.run(['review', 'work.md', '--criteria', 'it says hello', ...judge])
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/PASS/)
    expect(server.requests[0]?.text).toContain('Hello, world.')
    expect(server.requests[0]?.text).toContain('it says hello')
    expect((await project.events()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['case.submitted', 'review.decided', 'task.accepted']),
    )
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('does not pay twice for the same verdict, nor roll again for another one', { timeout }, async () => {
    const [project, server, judge] = await withJudge((request) => (request.number === 1 ? reject(request) : accept(request)))
    const args = ['review', 'work.md', '--criteria', 'it says hello', ...judge]
    const [first, second] = [await project.run(args), await project.run(args)]
    expect([first.code, second.code]).toEqual([1, 1])
    expect(server.requests).toHaveLength(1)
    expect(first.stdout).toContain('1 call, ')
    expect(second.stdout).toContain('0 calls, 1 verdict as before, not asked again')
    const carried = (await project.events()).filter(({ type }) => type === 'decision.carried')
    expect(carried.map(({ data }) => (data as { from?: object }).from)).toEqual([{ task: 'review-1/subject', review: 1 }])
    project.write({ 'work.md': 'Hello again.\n' })
    expect((await project.run(args)).code).toBe(0)
    expect(server.requests).toHaveLength(2)
  })

  it('rejects with 1, says what to do, and is never clean', { timeout }, async () => {
    const [project, , judge] = await withJudge((request) => reject(request, { next_step: 'Say it to everybody.' }))
    const { code, stdout } = await project.run(['review', 'work.md', ...judge])
    expect(code).toBe(1)
    expect(stdout).toContain('Say it to everybody.')
    expect((await project.events()).some(({ type }) => type === 'task.accepted')).toBe(false)
  })

  it.each([
    ['a judge that cannot be reached', () => failure(401)],
    ['a judge that only talks', () => say('Great work! SCORE: 100')],
  ])('is inconclusive with 3 under %s', { timeout }, async (_what, script) => {
    const [project, server, judge] = await withJudge(script)
    const { code, stdout } = await project.run(['review', 'work.md', ...judge])
    expect(code, stdout).toBe(3)
    expect(stdout).toContain('INCONCLUSIVE')
    expect(server.requests.length).toBeGreaterThan(0)
  })

  it('takes folders, standard input, addresses and diffs', { timeout }, async () => {
    const [project, server, judge] = await withJudge((request) => accept(request), { 'docs/a.md': 'alpha', 'docs/b/c.md': 'gamma' })
    const folder = await project.run(['review', 'docs', '--json', ...judge])
    expect(jsonOf(folder.stdout).subject.kind).toBe('folder')
    expect(server.requests.at(-1)?.text).toContain('gamma')

    const [program = '', ...args] = assayCommand(['review', '-', '--json', ...judge])
    const child = spawn(program, args, { cwd: project.folder, env: plainEnv(project.folder), stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end('text from a pipe')
    let piped = ''
    for await (const chunk of child.stdout) piped += chunk
    expect(jsonOf(piped).subject.kind).toBe('text')
    expect(server.requests.at(-1)?.text).toContain('text from a pipe')

    const site = createServer((_request, response) => response.end('<h1>a page</h1>')).listen(0, '127.0.0.1')
    onTestFinished(() => void site.close())
    await new Promise((resolve) => site.once('listening', resolve))
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const refused = await project.run(['review', url, ...judge])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--allow-private')
    const page = await project.run(['review', url, '--allow-private', '--json', ...judge])
    expect(jsonOf(page.stdout).subject.kind).toBe('url')
    expect(server.requests.at(-1)?.text).toContain('a page')

    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: project.folder, encoding: 'utf8' })
    git('init', '-q', '-b', 'main')
    git('add', 'work.md', 'docs')
    git('commit', '-qm', 'one')
    project.write({ 'work.md': 'Hello, everybody.\n' })
    git('commit', '-qam', 'two')
    const diff = await project.run(['review', '--diff', 'HEAD~1..HEAD', '--json', ...judge])
    expect(jsonOf(diff.stdout).subject.kind, diff.stderr).toBe('diff')
    expect(server.requests.at(-1)?.text).toContain('+Hello, everybody.')
    expect(server.requests.at(-1)?.text).not.toContain('gamma')
  })

  it('reads criteria from files, and writes every format where it is asked to', { timeout }, async () => {
    const [project, , judge] = await withJudge((request) => reject(request), {
      'criteria.yaml': ['one', { id: 'SOFT', text: 'two', hard: false }],
      'more.txt': '- three\n\nfour\n',
    })
    const formats = ['pretty', 'minimal', 'json', 'junit', 'sarif', 'github', 'markdown'].flatMap((name) => [
      '--format',
      `${name}=out/${name}.txt`,
    ])
    const { code } = await project.run(['review', 'work.md', '--criteria', 'criteria.yaml', '--criteria', 'more.txt', ...formats, ...judge])
    expect(code).toBe(1)
    expect(jsonOf(project.read('out/json.txt')).criteria.map(({ id, text }) => [id, text])).toEqual([
      ['AC1', 'one'],
      ['SOFT', 'two'],
      ['AC3', 'three'],
      ['AC4', 'four'],
    ])
    expect(project.read('out/junit.txt')).toContain('<testsuite')
    expect(JSON.parse(project.read('out/sarif.txt'))).toMatchObject({ version: '2.1.0' })
    expect(project.read('out/github.txt')).toContain('::error')
    expect(project.read('out/markdown.txt')).toContain('FAIL')
  })

  it('uses the judges of a configuration where there is one', { timeout }, async () => {
    const [project] = await withJudge((request) => accept(request), {
      'assay.yaml': {
        brains: { eyes: { kind: 'command', argv: ['./judge.sh'] } },
        agents: { qa: { role: 'reviewer', brain: 'eyes' } },
      },
      'judge.sh': '#!/bin/sh\ngrep -q "Hello, world" "$ASSAY_SNAPSHOT/work.md" && echo "SCORE: 90" || echo "SCORE: 10"\n',
    })
    expect((await project.run(['review', 'work.md'])).code).toBe(0)
  })

  it.each<[string, string[], RegExp]>([
    ['nothing to review', ['review'], /name one thing/],
    [
      'a file that is not there',
      ['review', 'gone.md', '--provider', 'openai-compatible', '--model', 'm', '--base-url', 'http://127.0.0.1:9/v1'],
      /gone\.md: .*no such file/,
    ],
    ['no judge at all', ['review', 'work.md'], /a provider: --provider or ASSAY_PROVIDER[\s\S]*a model: --model or ASSAY_MODEL/],
    ['a key that is not set', ['review', 'work.md', '--provider', 'anthropic', '--model', 'm'], /the key in ANTHROPIC_API_KEY/],
    ['an unknown format', ['review', 'work.md', '--format', 'pdf'], /no such format.*pretty/],
  ])('says what is missing: %s', { timeout }, async (_what, args, says) => {
    const project = makeProject({ 'work.md': 'x' })
    const { code, stderr } = await project.run(args)
    expect(code).toBe(2)
    expect(stderr).toMatch(says)
  })
})
