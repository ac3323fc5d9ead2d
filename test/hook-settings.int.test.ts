import { chmodSync, lstatSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentless } from './front-door/agents.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

const file = '.claude/settings.json'
const settings = (...commands: string[]) =>
  `${JSON.stringify({ hooks: { Stop: commands.map((command) => ({ hooks: [{ type: 'command', command }] })) } }, null, 2)}\n`

async function change(project: Project, action: 'install' | 'remove', agent = 'claude'): Promise<string> {
  const { code, stdout, stderr } = await project.run(['hook', action, '--agent', agent, '--yes'], { env: { PATH: agentless } })
  expect(code, stderr).toBe(0)
  return stdout
}

describe('settings of a coding agent', () => {
  it('keep every command that is not Assay’s own', { timeout }, async () => {
    const before = settings('./lint.sh && assay hook --agent claude', 'echo remember: assay hook is off; ./my-own-stop.sh')
    const project = makeProject({ [file]: before })
    expect(await change(project, 'remove')).toContain('there is no hook')
    expect(project.read(file)).toBe(before)
    await change(project, 'install')
    expect(JSON.parse(project.read(file)).hooks.Stop).toHaveLength(3)
    expect(await change(project, 'install')).toContain('already')
    await change(project, 'remove')
    expect(project.read(file)).toBe(before)
  })

  it('that are a link stay one, and nobody else may read them afterwards', { timeout }, async () => {
    const project = makeProject({ 'dotfiles/claude.json': '{ "env": { "KEY": "x" } }', '.claude/none': '' })
    const [link, target] = [join(project.folder, file), join(project.folder, 'dotfiles/claude.json')]
    symlinkSync('../dotfiles/claude.json', link)
    chmodSync(target, 0o600)
    for (const action of ['install', 'remove'] as const) {
      await change(project, action)
      expect(lstatSync(link).isSymbolicLink()).toBe(true)
      expect(readlinkSync(link)).toBe('../dotfiles/claude.json')
      expect(statSync(target).mode & 0o777).toBe(0o600)
      expect(project.read('dotfiles/claude.json').includes('hook --agent claude')).toBe(action === 'install')
    }
    expect(JSON.parse(project.read('dotfiles/claude.json'))).toEqual({ env: { KEY: 'x' } })
  })

  it('that lie behind a link are made there, and are emptied rather than deleted', { timeout }, async () => {
    const project = makeProject({ 'dotfiles/none': '', '.claude/none': '' })
    symlinkSync('../dotfiles/claude.json', join(project.folder, file))
    await change(project, 'install')
    expect(project.read('dotfiles/claude.json')).toContain('hook --agent claude')
    await change(project, 'remove')
    expect(JSON.parse(project.read('dotfiles/claude.json'))).toEqual({})
  })

  it('of a user who has none yet are left as they are', { timeout }, async () => {
    const project = makeProject({ [file]: '{}' })
    await change(project, 'remove')
    expect(project.read(file)).toBe('{}')
  })

  it('are named by help', { timeout }, async () => {
    const project = makeProject()
    for (const action of ['install', 'remove']) {
      const { code, stdout } = await project.run(['hook', action, '--help'])
      expect(code).toBe(0)
      expect(stdout.replace(/\s+/g, ' ')).toContain(
        '--agent <name> whose settings (choices: "claude", "codex", "gemini", "copilot", "cursor")',
      )
    }
  })
})

describe('assay init --remove', () => {
  it('takes out the hook that init put in, and leaves the user’s', { timeout }, async () => {
    const env = { PATH: agentless }
    const before = settings('./mine.sh')
    const project = makeProject({ [file]: before })
    const put = await project.run(['init', '--hook', 'claude', '--yes'], { env })
    expect(put.code, put.stderr).toBe(0)
    expect(put.stderr).toMatch(/^\+ {12}"command": ".*hook --agent claude"/m)
    expect(put.stdout).toContain(`changed ${join(project.folder, file)}`)
    expect((await project.run(['init', '--hook', 'gemini', '--yes'], { env })).code).toBe(0)
    const gone = await project.run(['init', '--remove', '--yes'], { env })
    expect(gone.code, gone.stderr).toBe(0)
    expect(project.read(file)).toBe(before)
    expect(project.has('assay.yaml')).toBe(false)
    // The settings of the home folder hold for every project.
    expect(project.read('.gemini/settings.json')).toContain('hook --agent gemini')
    expect((await project.run(['init', '--remove', '--hook', 'gemini', '--yes'], { env })).code).toBe(0)
    expect(project.has('.gemini/settings.json')).toBe(false)
  })
})

describe('a hook whose program is gone', () => {
  it('is told in a line, and is mended by the command that the doctor names', { timeout }, async () => {
    const env = { PATH: agentless }
    const project = makeProject({ 'assay.yaml': {}, [file]: settings('npx --no-install assay hook --agent claude', './mine.sh') })
    const look = async () => {
      const { lines } = await project.json<{ id?: string; state: string; detail: string; fix?: string }>(['doctor'], { env })
      return lines.filter(({ id }) => id === 'hook.claude')
    }
    const [dead, ...more] = await look()
    expect(more).toEqual([])
    expect(dead).toMatchObject({ state: 'bad', fix: 'assay hook install --agent claude' })
    expect(dead?.detail).toBe(
      `is in ${join(project.folder, file)} but does not fire: npx finds no assay in the packages of ${project.folder}`,
    )
    await change(project, 'install')
    expect(project.read(file)).toContain('./mine.sh')
    expect(project.read(file)).not.toContain('npx')
    expect(await look()).toMatchObject([{ state: 'ok' }])
    await change(project, 'remove')
    expect(project.read(file)).toBe(settings('./mine.sh'))
  })
})
