import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAssay, useAssay } from './front-door/assay.ts'
import { begin, git, type HookAnswer, judgedPaths, ruledFiles, ruledProject, stop, unreviewedReasons } from './front-door/hooked.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** A judge that agrees to everything, so that checks alone decide. */
const agreeing = 'cat >/dev/null\necho "SCORE: 90"\n'
const checkedBy = (...argv: string[]): object => ({ checks: [{ kind: 'command', argv }] })
const library = {
  'node_modules/lib/index.js': 'module.exports = (text) => text.includes("good")\n',
  'node_modules/lib/package.json': '{"name":"lib"}',
}
const loading = 'process.exit(require("lib")(require("fs").readFileSync("a.txt", "utf8")) ? 0 : 1)\n'

describe('what a judge loads', () => {
  it('is as the session found it, in every round, and what the agent made of it is said', { timeout }, async () => {
    const project = ruledProject()
    await begin(project, 's1')
    project.write({ 'a.txt': 'bad\n', 'rules.sh': 'wanted() { true; }\n' })
    const first = await stop(project, 's1')
    expect(first.decision).toBe('block')
    expect(first.reason).toMatch(/as they were when the session began.*rules\.sh/)
    project.write({ 'a.txt': 'good\n' })
    const second = await stop(project, 's1')
    expect(second.systemMessage).toMatch(/PASS.*rules\.sh/)
    project.write({ 'a.txt': 'bad again\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
  })

  it('is not taken from packages that the agent changed', { timeout }, async () => {
    const judge =
      'process.stdin.resume()\nconsole.log(require("lib")(require("fs").readFileSync(process.env.ASSAY_SNAPSHOT + "/a.txt", "utf8")) ? "SCORE: 90" : "SCORE: 30")\nprocess.exit(0)\n'
    const brains = { crit: { kind: 'command', argv: ['node', 'judge.cjs'] } }
    const project = ruledProject({ ...library, 'judge.cjs': judge }, { brains })
    await begin(project, 's1')
    project.write({ 'a.txt': 'bad\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    project.write({ 'node_modules/lib/index.js': 'module.exports = () => true\n' })
    expect((await stop(project, 's1')).systemMessage).toMatch(/UNREVIEWED: installed packages.*node_modules\/lib/)
  })
})

describe('what a check loads', () => {
  it('from node_modules is as the session found it, and stays suspect until the same is installed again', { timeout }, async () => {
    const project = ruledProject({ ...library, 'judge.sh': agreeing, 'check.cjs': loading }, checkedBy('node', 'check.cjs'))
    await begin(project, 's1')
    project.write({ 'a.txt': 'bad\n', 'node_modules/lib/index.js': 'module.exports = () => true\n' })
    expect((await stop(project, 's1')).systemMessage).toMatch(/UNREVIEWED: installed packages.*node_modules\/lib/)
    await begin(project, 's2')
    project.write({ 'a.txt': 'worse\n' })
    expect((await stop(project, 's2')).systemMessage).toMatch(/UNREVIEWED: installed packages.*node_modules\/lib/)
    project.write(library)
    expect((await stop(project, 's2')).decision).toBe('block')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's2')).systemMessage).toContain('PASS')
    expect(await unreviewedReasons(project)).toHaveLength(2)
  })

  it('from node_modules of a folder around is as the session found it', { timeout }, async () => {
    const inner = { ...ruledFiles(checkedBy('node', 'check.cjs')), 'judge.sh': agreeing, 'check.cjs': loading }
    const outer = makeProject({ ...library, ...Object.fromEntries(Object.entries(inner).map(([path, text]) => [`inner/${path}`, text])) })
    const folder = join(outer.folder, 'inner')
    const tell = async (event: string): Promise<HookAnswer> => {
      const input = JSON.stringify({ session_id: 's1', cwd: folder, hook_event_name: event })
      const { stdout } = await startAssay(['hook', '--agent', 'claude'], { cwd: folder, env: { HOME: outer.folder }, input }).ended
      return JSON.parse(stdout) as HookAnswer
    }
    await tell('SessionStart')
    outer.write({ 'inner/a.txt': 'bad\n' })
    expect((await tell('Stop')).decision).toBe('block')
    outer.write({ 'node_modules/lib/index.js': 'module.exports = () => true\n' })
    expect((await tell('Stop')).systemMessage).toMatch(/UNREVIEWED: .*node_modules, from which/)
  })

  it('may be in no snapshot and is used while it is as it was', { timeout }, async () => {
    const tool = '#!/bin/sh\n. "$(dirname "$0")/../lib/rule"\ngrep -q "$wanted" a.txt\n'
    const ignored = '.assay\ntmp/\n.config/\nenv/\n'
    const files = { 'judge.sh': agreeing, '.gitignore': ignored, 'env/bin/tool': tool, 'env/lib/rule': 'wanted=good\n' }
    const project = ruledProject(files, checkedBy('env/bin/tool'))
    await begin(project, 's1')
    project.write({ 'a.txt': 'bad\n' })
    expect((await stop(project, 's1')).decision).toBe('block')
    project.write({ 'env/lib/rule': 'wanted=bad\n' })
    expect((await stop(project, 's1')).systemMessage).toMatch(/UNREVIEWED: env, from which/)
  })

  it('is unknown where nobody saw the session begin', { timeout }, async () => {
    const project = ruledProject({ ...library, 'judge.sh': agreeing, 'check.cjs': loading }, checkedBy('node', 'check.cjs'))
    project.write({ 'a.txt': 'bad\n', 'node_modules/lib/index.js': 'module.exports = () => true\n' })
    expect((await stop(project, 's1')).systemMessage).toMatch(/UNREVIEWED.*nobody saw this session begin/)
    expect(await judgedPaths(project)).toEqual([])
  })
})

describe('new files that are out of sight', () => {
  const hide: Record<string, (project: Project) => void> = {
    'in another work tree': (project) => {
      project.write({ 'evil.txt': 'bad\n', 'tmp/tree/a.txt': 'x' })
      git(project, 'config', 'core.worktree', join(project.folder, 'tmp', 'tree'))
    },
    'in packages, tracked': (project) => {
      project.write({ 'src/node_modules/evil/index.js': 'bad\n' })
      git(project, 'add', '-f', 'src/node_modules')
    },
    'in a cache of packages, tracked': (project) => {
      project.write({ 'node_modules/.cache/evil.js': 'bad\n' })
      git(project, 'add', '-f', 'node_modules/.cache/evil.js')
    },
    'among Assay’s own, tracked': (project) => {
      project.write({ 'src/.assay/evil.js': 'bad\n' })
      git(project, 'add', '-f', 'src/.assay')
    },
    'behind a thousand others': (project) => {
      const names = Array.from({ length: 1_001 }, (_, at) => `hide/a${at}.txt`)
      project.write(Object.fromEntries([...names, 'hide/evil.txt'].map((name) => [name, 'x\n'])))
      appendFileSync(join(project.folder, '.gitignore'), 'hide/\n')
    },
  }

  it.each(Object.keys(hide))('%s: are reviewed, or named as the reason why nothing is', { timeout }, async (where) => {
    const project = ruledProject({ 'judge.sh': agreeing })
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    hide[where]?.(project)
    const { systemMessage } = await stop(project, 's1')
    if (systemMessage?.includes('PASS')) expect((await judgedPaths(project)).flat()).toContainEqual(expect.stringMatching(/evil\.txt$/))
    else
      expect(systemMessage).toMatch(
        /UNREVIEWED: (files that git takes lie where nothing is reviewed|rules of \.gitignore that are new hide)/,
      )
  })

  it('are judged as they are where git was told to forget them', { timeout }, async () => {
    const judge = 'cat >/dev/null\nif grep -rq bad "$ASSAY_SNAPSHOT/dist"; then echo "SCORE: 30"; else echo "SCORE: 90"; fi\n'
    const project = ruledProject({ 'judge.sh': judge, 'dist/made.txt': 'harmless so far\n' })
    appendFileSync(join(project.folder, '.gitignore'), 'dist/\n')
    await begin(project, 's1')
    project.write({ 'dist/made.txt': 'bad\n' })
    git(project, 'rm', '-q', '--cached', 'dist/made.txt')
    expect((await stop(project, 's1')).decision).toBe('block')
  })

  it('does not trouble a project that commits its packages', { timeout }, async () => {
    const project = ruledProject({ ...library, 'judge.sh': agreeing, '.gitignore': '.assay\ntmp/\n.config/\n' })
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
  })
})
