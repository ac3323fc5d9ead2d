import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentless, withClaude } from './front-door/agents.ts'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0
if (!hasScript) console.warn('skipped: a real terminal needs `script` (package util-linux or bsdutils)')

/** No agent and no key. */
const bare = { PATH: agentless }

/** Every file of the project's folder with its text, but for what tests put around it. */
function filesOf({ folder }: Project): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = names.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  const shown = paths.filter((path) => !/^(tmp|\.config|\.claude|\.git|\.assay)\//.test(path)).sort()
  return Object.fromEntries(shown.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: folder })

describe('assay init', () => {
  it('writes what it showed, then has nothing to do, and takes out exactly that', { timeout }, async () => {
    const project = makeProject({ 'notes.md': 'x' })
    const env = withClaude()
    const before = filesOf(project)
    const shown = await project.run(['init', '--dry-run'], { env })
    expect(shown).toMatchObject({ code: 0, stdout: 'nothing was written\n' })
    expect(filesOf(project)).toEqual(before)

    const wrote = await project.run(['init', '--yes'], { env })
    expect(wrote).toMatchObject({ code: 0, stdout: 'created assay.yaml\ncreated mission.yaml\ncreated AGENTS.md\n' })
    const after = filesOf(project)
    for (const name of ['assay.yaml', 'mission.yaml', 'AGENTS.md'])
      for (const line of (after[name] ?? '').split('\n').slice(0, -1)) expect(shown.stderr).toContain(`\n+${line}\n`)
    expect(shown.stderr).toContain('template document: notes.md is here')

    expect(await project.run(['config', 'validate', 'mission.yaml'], { env })).toMatchObject({ code: 0 })
    for (const flags of [['--yes'], [], ['--dry-run']]) {
      const again = await project.run(['init', ...flags], { env })
      expect(again, flags.join()).toMatchObject({ code: 0, stdout: 'nothing to do\n' })
    }
    expect(filesOf(project)).toEqual(after)

    expect(await project.run(['init', '--remove', '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('deleted assay.yaml'),
    })
    expect(filesOf(project)).toEqual(before)
    expect(await project.run(['init', '--remove', '--yes'])).toMatchObject({ code: 0, stdout: 'nothing to do\n' })
  })

  it.each([
    ['a repository', 'workspace: worktree'],
    ['a folder', 'workspace: { folder: . }'],
  ])(
    'writes a project that runs as it stands in %s: an agent works, others judge, the work is accepted',
    { timeout },
    async (place, workspace) => {
      const project = makeProject({ 'main.py': 'print(1)\n' })
      if (place === 'a repository') {
        git(project.folder, 'init', '-q')
        git(project.folder, 'add', 'main.py')
        git(project.folder, 'commit', '-qm', 'one')
      }
      const env = withClaude()
      expect((await project.run(['init', '--yes'], { env })).code).toBe(0)
      expect(project.read('mission.yaml')).toContain(workspace)
      const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'], { env })
      expect(code, stdout + stderr).toBe(0)
      expect(stdout).toContain('RESULT: PASS')
      expect(project.has('done.test.txt')).toBe(place === 'a folder')
      const why = await project.run(['why', 'write-a-missing-test'], { env })
      expect(why.stdout).toContain('because its review passed')
    },
  )

  it('writes nothing and asks nothing where nobody is there to ask', { timeout }, async () => {
    const project = makeProject()
    const before = filesOf(project)
    const asked = await project.run(['init'], { env: bare })
    expect(asked).toMatchObject({ code: 2, stdout: 'nothing was written\n', stderr: expect.stringContaining('--yes') })
    const { code, lines } = await project.json(['init'], { env: bare })
    expect(code).toBe(2)
    expect(lines).toMatchObject([{ kind: 'init', written: false, template: 'code' }])
    expect(filesOf(project)).toEqual(before)
  })

  it('never overwrites what it did not write, and leaves what was changed since', { timeout }, async () => {
    const project = makeProject({ 'AGENTS.md': '# Ours\nno line break', 'mission.yaml': 'name: mine\n' })
    const { code, stderr } = await project.run(['init', '--yes'], { env: bare })
    expect(code).toBe(0)
    expect(stderr).toContain('mission.yaml: not written by init: left as it is')
    expect(project.read('mission.yaml')).toBe('name: mine\n')
    expect(project.read('AGENTS.md').startsWith('# Ours\nno line break\n<!-- assay:start -->\n')).toBe(true)

    project.write({ 'assay.yaml': `${project.read('assay.yaml')}concurrency: 2\n` })
    const removed = await project.run(['init', '--remove', '--yes'])
    expect(removed.stderr).toContain('assay.yaml: changed since')
    expect(project.read('assay.yaml')).toContain('concurrency: 2')
    expect(project.read('AGENTS.md')).toBe('# Ours\nno line break')
    expect(project.read('mission.yaml')).toBe('name: mine\n')
  })

  it('writes no mission beside a configuration of somebody else', { timeout }, async () => {
    const project = makeProject({ 'assay.yaml': 'agents: {}\n' })
    expect((await project.run(['init', '--yes'], { env: bare })).code).toBe(0)
    expect(project.read('assay.yaml')).toBe('agents: {}\n')
    expect(project.has('mission.yaml')).toBe(false)
  })

  it('names keys and never their values, and says where nobody judges', { timeout }, async () => {
    const secret = 'sk-canary-4711'
    const keyed = makeProject()
    const { lines, stderr } = await keyed.json<{ said: string[] }>(['init', '--yes', '--model', 'my-model'], {
      env: { ...bare, GEMINI_API_KEY: secret },
    })
    expect(lines[0]?.said).toContainEqual(expect.stringContaining('GEMINI_API_KEY is set'))
    expect(keyed.read('assay.yaml')).toContain('provider: google, model: my-model, apiKeyEnv: GEMINI_API_KEY')
    expect(JSON.stringify([lines, stderr, filesOf(keyed)])).not.toContain(secret)

    const alone = makeProject()
    const said = await alone.run(['init', '--yes'], { env: bare })
    expect(said.stderr).toContain('judges: NONE')
    expect((await alone.run(['config', 'validate', 'mission.yaml'], { env: bare })).code).toBe(0)
  })

  it('chooses by what is in the folder', { timeout }, async () => {
    const chosen = async (files: Record<string, string | object>, repository = false) => {
      const project = makeProject(files)
      if (repository) git(project.folder, 'init', '-q')
      const { lines } = await project.json<{ template: string; changes: { path: string; after: string }[] }>(['init', '--dry-run'], {
        env: bare,
      })
      return { template: lines[0]?.template, mission: lines[0]?.changes.find(({ path }) => path === 'mission.yaml')?.after ?? '' }
    }
    const manifest = (more: object) => JSON.stringify({ name: 'x', ...more })
    const tested = await chosen(
      { 'package.json': manifest({ scripts: { test: 'vitest run' }, devDependencies: { vitest: '1' } }), 'pnpm-lock.yaml': '' },
      true,
    )
    expect(tested).toMatchObject({ template: 'code', mission: expect.stringContaining('argv: [pnpm, test]') })
    expect(tested.mission).toContain('workspace: { folder: . }')
    const untested = await chosen({ 'package.json': manifest({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }) })
    expect(untested.mission).not.toContain('      - { kind: command')
    expect((await chosen({ 'package.json': manifest({ dependencies: { hono: '4' } }) })).template).toBe('api')
    expect((await chosen({ 'package.json': 'not json' })).template).toBe('code')
    expect((await chosen({ 'public/index.html': '<h1>x</h1>' })).template).toBe('landing-page')
    expect((await chosen({ 'README.md': 'x', 'LICENSE.md': 'x' })).template).toBe('code')
  })

  it('refuses an unknown template, agent or hook', { timeout }, async () => {
    const project = makeProject()
    for (const flags of [
      ['--template', 'novel'],
      ['--hook', 'emacs'],
    ])
      expect((await project.run(['init', '--yes', ...flags], { env: bare })).code, flags.join(' ')).toBe(2)
    expect(project.has('assay.yaml')).toBe(false)
  })
})

describe('on a terminal', () => {
  /** Types a line into `assay init` on a terminal of its own. */
  async function typed(project: Project, line: string, env: Record<string, string> = {}): Promise<string> {
    const command = assayCommand(['init'])
      .map((word) => `'${word}'`)
      .join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: project.folder,
      env: { ...plainEnv(project.folder), TERM: 'dumb', SHELL: '/bin/sh', ...bare, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let seen = ''
    let answered = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
      if (answered || !seen.includes('[y/N]')) return
      answered = true
      child.stdin.write(line)
    })
    await once(child, 'close')
    return seen
  }

  it.skipIf(!hasScript)('writes after a yes alone', { timeout }, async () => {
    const project = makeProject()
    for (const no of ['n\n', '\n', String.fromCharCode(3)]) expect(await typed(project, no)).toContain('nothing was written')
    expect(project.has('assay.yaml')).toBe(false)
    expect(await typed(project, 'y\n')).toContain('created assay.yaml')
    expect(project.has('assay.yaml')).toBe(true)
  })

  it.skipIf(!hasScript)('asks no agent and no continuous integration', { timeout }, async () => {
    for (const variable of ['CLAUDECODE', 'CI']) {
      const project = makeProject()
      const seen = await typed(project, 'y\n', { [variable]: '1' })
      expect(seen).not.toContain('[y/N]')
      expect(seen).toContain('nobody is here to ask')
      expect(project.has('assay.yaml')).toBe(false)
    }
  })
})
