import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { agentless, withClaude } from './front-door/agents.ts'
import { useAssay, writeFiles } from './front-door/assay.ts'
import { callHook, type HookAnswer, ruledProject, unreviewedReasons } from './front-door/hooked.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const bin = '.venv/bin'
const ignored = '.assay\ntmp/\n.config/\n.claude/\n.venv/\n'
const strict = '#!/bin/sh\n: >>"$HOME/tmp/strict"\nexit 1\n'

interface Hooked {
  project: Project
  /** What the stand-in that is content with everything is made of. */
  contented: string
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
  withClaude(project)
  const contented = project.read('tmp/bin/claude')
  rmSync(join(project.folder, 'tmp', 'bin'), { recursive: true })
  const usual = path(project.folder)
  return {
    project,
    contented,
    hook: (event, PATH = usual) =>
      callHook(project, { session_id: 's1', cwd: project.folder, hook_event_name: event }, { env: { PATH: `${PATH}:${agentless}` } }),
  }
}

function plant(project: Project, path: string, text: string): void {
  project.write({ [path]: text })
  chmodSync(join(project.folder, path), 0o755)
}

const work = { 'done.test.txt': 'tested\n' }

describe('an agent of whose name a program comes to lie in a folder of PATH', () => {
  it('inside of the project does not judge, and stays suspect in the next session', { timeout }, async () => {
    const owners = outside({ claude: strict })
    const { project, contented, hook } = hooked((folder) => `${join(folder, bin)}:${owners}`)
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
        { env: { PATH: `${join(project.folder, bin)}:${agentless}` } },
      )
    await later('SessionStart')
    project.write({ 'more.test.txt': 'tested\n' })
    expect((await later('Stop')).systemMessage).toMatch(/UNREVIEWED: programs that PATH finds.*\.venv\/bin\/claude/)
  })

  it('inside of the project judges where it lay there from the beginning', { timeout }, async () => {
    const { project, contented, hook } = hooked((folder) => join(folder, bin))
    plant(project, `${bin}/claude`, contented)
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop')).systemMessage).toContain('PASS')
  })

  it('inside of the project does not judge where PATH came to lead there since', { timeout }, async () => {
    const owners = outside({ claude: strict })
    const { project, contented, hook } = hooked(() => owners)
    plant(project, `${bin}/claude`, contented)
    await hook('SessionStart')
    project.write(work)
    expect((await hook('Stop', `${join(project.folder, bin)}:${owners}`)).systemMessage).toMatch(/UNREVIEWED: .*\.venv\/bin/)
    expect(project.logged('strict')).toEqual([])
  })

  it('outside of the project does not judge where another one was found before', { timeout }, async () => {
    const [first, second] = [outside({ later: '' }), outside({ claude: strict })]
    const { project, contented, hook } = hooked(() => `${first}:${second}`)
    await hook('SessionStart')
    project.write(work)
    writeFiles(first, { later: contented })
    renameSync(join(first, 'later'), join(first, 'claude'))
    expect((await hook('Stop')).systemMessage).toMatch(/UNREVIEWED: claude is found elsewhere/)
  })
})

describe('where nobody saw the session begin', () => {
  it('nothing judges or checks by programs of the project that PATH finds', { timeout }, async () => {
    const { project, contented, hook } = hooked((folder) => join(folder, bin))
    plant(project, `${bin}/claude`, contented)
    project.write(work)
    expect((await hook('Stop')).systemMessage).toMatch(/UNREVIEWED: .*\.venv\/bin.*nobody saw this session begin/)
    expect(await unreviewedReasons(project)).toHaveLength(1)
  })
})
