import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentless } from './front-door/agents.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()
const env = { PATH: agentless }

/** Names of everything in the project's folder, but for what tests put around it. */
const names = ({ folder }: Project): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(tmp|\.config)(\/|$)/.test(path))
    .sort()

const put: Record<string, (place: string) => void> = {
  'a folder': (place) => mkdirSync(place, { recursive: true }),
  'a link that leads nowhere': (place) => symlinkSync('nowhere', place),
  'a link to itself': (place) => symlinkSync(place, place),
  'a pipe': (place) => void execFileSync('mkfifo', [place]),
}

describe('assay init, where something else lies in the way', () => {
  it.each(['AGENTS.md', 'assay.yaml', 'mission.yaml'].flatMap((path) => Object.keys(put).map((kind) => [path, kind] as const)))(
    '%s is %s: names it and what to do, and writes nothing',
    { timeout },
    async (path, kind) => {
      const project = makeProject()
      put[kind]?.(join(project.folder, path))
      const before = names(project)
      for (const flags of [['--yes'], ['--dry-run']]) {
        const { code, stdout, stderr } = await project.run(['init', ...flags], { env })
        expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' })
        expect(stderr).toContain(`assay: ${join(project.folder, path)} `)
        expect(stderr).toMatch(/: (move it away|remove it|mend it)/)
        expect(stderr).not.toMatch(/EISDIR|ENOENT|\bat /)
      }
      const gone = await project.run(['init', '--remove', '--yes'], { env })
      expect(gone, gone.stderr).toMatchObject({ code: 0, stdout: 'nothing to do\n' })
      expect(names(project)).toEqual(before)
    },
  )

  it.each<[string, (project: Project) => void, string]>([
    ['.claude is a file', (project) => project.write({ '.claude': 'x' }), '.claude'],
    [
      'its settings are a folder',
      ({ folder }) => mkdirSync(join(folder, '.claude/settings.json'), { recursive: true }),
      '.claude/settings.json',
    ],
    ['.claude leads nowhere', ({ folder }) => symlinkSync('nowhere', join(folder, '.claude')), '.claude'],
  ])('%s: puts no hook in, and writes nothing else', { timeout }, async (_what, does, path) => {
    const project = makeProject()
    does(project)
    const before = names(project)
    for (const args of [
      ['init', '--hook', 'claude', '--yes'],
      ['hook', 'install', '--agent', 'claude', '--yes'],
    ]) {
      const { code, stdout, stderr } = await project.run(args, { env })
      expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`assay: ${join(project.folder, path)} `)
      expect(stderr).not.toMatch(/EISDIR|ENOTDIR|EEXIST|\bat /)
    }
    expect(names(project)).toEqual(before)
    expect((await project.run(['init', '--remove', '--yes'], { env })).code).toBe(0)
  })

  it('a manifest that is a folder says nothing of the project', { timeout }, async () => {
    const project = makeProject()
    for (const name of ['package.json', 'Makefile']) mkdirSync(join(project.folder, name))
    const { code, stderr } = await project.run(['init', '--yes'], { env })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('template code: nothing here says otherwise')
  })
})

describe('assay init --remove', () => {
  it.each([
    ['claude', '.claude'],
    ['copilot', '.github'],
  ])('takes out the folders that it made for %s, and no other', { timeout }, async (agent, made) => {
    const project = makeProject()
    const before = names(project)
    expect((await project.run(['init', '--hook', agent, '--yes'], { env })).code).toBe(0)
    expect(existsSync(join(project.folder, made))).toBe(true)
    expect((await project.run(['init', '--remove', '--yes'], { env })).code).toBe(0)
    expect(names(project)).toEqual(before)
    project.write({ [`${made}/own.md`]: 'x' })
    expect((await project.run(['init', '--hook', agent, '--yes'], { env })).code).toBe(0)
    expect((await project.run(['init', '--remove', '--yes'], { env })).code).toBe(0)
    expect(names(project)).toEqual([...before, made, `${made}/own.md`].sort())
  })
})
