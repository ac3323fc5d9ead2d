import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { agentless, contented, withClaude } from './front-door/agents.ts'
import { useAssay, writeFiles } from './front-door/assay.ts'
import { callHook, commitAll, type HookAnswer, ruledProject, unreviewedReasons } from './front-door/hooked.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const bin = '.venv/bin'
const ignored = '.assay\ntmp/\n.config/\n.claude/\n.venv/\n'
const strict = (log: string) => `#!/bin/sh\n: >>'${log}'\nexit 1\n`

interface Hooked {
  project: Project
  HOME: string
  hook(event: string, path?: string): Promise<HookAnswer>
}

/** A folder outside of every project. */
function outside(files: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-outside-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFiles(folder, files)
  for (const name of Object.keys(files)) chmodSync(join(folder, name), 0o755)
  return folder
}

/** A project that an agent judges, with an environment of its own active in the shell that the session runs in. */
function hooked(path: (folder: string) => string, more: object = {}): Hooked {
  const brains = { crit: { kind: 'agent', agent: 'claude' } }
  const project = ruledProject({ '.gitignore': ignored }, { brains, ...more })
  const { HOME } = withClaude()
  const usual = path(project.folder)
  return {
    project,
    HOME,
    hook: (event, PATH = usual) =>
      callHook(project, { session_id: 's1', cwd: project.folder, hook_event_name: event }, { env: { HOME, PATH: `${PATH}:${agentless}` } }),
  }
}

function plant(project: Project, path: string, text: string): void {
  project.write({ [path]: text })
  chmodSync(join(project.folder, path), 0o755)
}

const work = { 'done.test.txt': 'tested\n' }

describe('an agent of whose name a program comes to lie in a folder of PATH', () => {
  it('inside of the project does not judge, and stays suspect in the next session', { timeout }, async () => {
    const owners = outside({ claude: strict('/dev/null') })
    const { project, HOME, hook } = hooked((folder) => `${join(folder, bin)}:${owners}`)
    await hook('SessionStart')
    project.write(work)
    plant(project, `${bin}/claude`, contented)
    const { systemMessage } = await hook('Stop')
    expect(systemMessage).toMatch(/UNREVIEWED: programs that PATH finds.*\.venv\/bin\/claude/)
    expect((await project.events()).map(({ type }) => type)).not.toContain('verdict.recorded')
    const later = (event: string) =>
      callHook(
        project,
        { session_id: 's2', cwd: project.folder, hook_event_name: event },
        { env: { HOME, PATH: `${join(project.folder, bin)}:${agentless}` } },
      )
    await later('SessionStart')
    project.write({ 'more.test.txt': 'tested\n' })
    expect((await later('Stop')).systemMessage).toMatch(/UNREVIEWED: programs that PATH finds.*\.venv\/bin\/claude/)
  })

  it('inside of the project does not judge where it lay there from the beginning, either', { timeout }, async () => {
    const { project, hook } = hooked((folder) => join(folder, bin))
    plant(project, `${bin}/claude`, contented)
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop')).systemMessage).toMatch(
      /UNREVIEWED: claude does not judge: its program is .*\.venv\/bin\/claude, where workers can write/,
    )
    expect((await project.events()).map(({ type }) => type)).not.toContain('verdict.recorded')
  })

  it('outside of the project, and is a link into it, does not judge, seen to begin or not', { timeout }, async () => {
    const owners = outside({})
    const { project, hook } = hooked(() => owners)
    plant(project, 'tools/claude.sh', contented)
    commitAll(project)
    symlinkSync(join(project.folder, 'tools/claude.sh'), join(owners, 'claude'))
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop')).systemMessage).toMatch(/UNREVIEWED: claude does not judge: .*through .*tools\/claude\.sh/)
  })

  it('outside of the project judges', { timeout }, async () => {
    const owners = outside({ claude: contented })
    const { project, hook } = hooked(() => owners)
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop')).systemMessage).toContain('PASS')
  })

  it('inside of the project does not judge where PATH came to lead there since', { timeout }, async () => {
    const owners = outside({})
    const { project, hook } = hooked(() => owners)
    writeFiles(owners, { claude: strict(project.log('strict')) })
    plant(project, `${bin}/claude`, contented)
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop', `${join(project.folder, bin)}:${owners}`)).systemMessage).toMatch(/UNREVIEWED: .*\.venv\/bin/)
    expect(project.logged('strict')).toEqual([])
  })

  it('outside of the project does not judge where another one was found before', { timeout }, async () => {
    const [first, second] = [outside({ later: '' }), outside({ claude: strict('/dev/null') })]
    const { project, hook } = hooked(() => `${first}:${second}`)
    await hook('SessionStart')
    project.write(work)
    writeFiles(first, { later: contented })
    renameSync(join(first, 'later'), join(first, 'claude'))
    expect((await hook('Stop')).systemMessage).toMatch(/UNREVIEWED: claude is found elsewhere/)
  })
})

describe('where nobody saw the session begin', () => {
  it('nothing judges or checks by programs of the project that PATH finds', { timeout }, async () => {
    const { project, hook } = hooked((folder) => join(folder, bin))
    plant(project, `${bin}/claude`, contented)
    project.write(work)
    expect((await hook('Stop')).systemMessage).toMatch(/UNREVIEWED: .*\.venv\/bin.*nobody saw this session begin/)
    expect(await unreviewedReasons(project)).toHaveLength(1)
  })
})
