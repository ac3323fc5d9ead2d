import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { noneLeft, until } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const setsid = spawnSync('setsid', ['true']).status === 0
if (!setsid) console.warn('skipped: leaving the session needs `setsid` (package util-linux)')

/** A PATH with everything that this process finds but the sandbox. */
function withoutSandbox(project: Project): { PATH: string } {
  const tools = join(project.folder, 'tools')
  mkdirSync(tools)
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
  const linked = new Set(['bwrap'])
  for (const folder of folders) {
    for (const name of listed(folder)) {
      if (linked.has(name)) continue
      linked.add(name)
      symlinkSync(join(folder, name), join(tools, name))
    }
  }
  return { PATH: tools }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

interface Attack {
  what: string
  worker: string
  /** Proves that it came off. */
  done(project: Project): boolean
}

/** What only a sandbox holds: here it comes off, and the record says why it could. */
const attacks: Attack[] = [
  {
    what: 'writes outside its workspace',
    worker: `echo planted > "$(dirname "$0")/planted.txt"; echo x > work.txt`,
    done: (project) => project.has('planted.txt'),
  },
  {
    what: 'changes a package that checks load',
    worker: `mkdir -p "$(dirname "$0")/node_modules/pad"; echo x > "$(dirname "$0")/node_modules/pad/index.js"; echo x > work.txt`,
    done: (project) => project.has('node_modules/pad/index.js'),
  },
  {
    what: 'looks at the journal',
    worker: `ls "$(dirname "$0")/.assay" > '{{log}}'; echo x > work.txt`,
    done: (project) => project.logged('log').includes('assay.db'),
  },
  {
    what: 'looks at the processes of others',
    worker: `ls -d /proc/[0-9]* | grep -c . > '{{log}}'; kill -0 $PPID && echo alive >> '{{log}}'; echo x > work.txt`,
    done: (project) => project.logged('log').includes('alive'),
  },
]

describe('without a sandbox, a worker that', () => {
  it.each(attacks)('$what is recorded as unsandboxed, and whoever runs it is told', { timeout }, async ({ worker, done }) => {
    const project = oneTask({ worker })
    const run = await project.run(['run', 'm.yaml'], { env: withoutSandbox(project) })
    expect(done(project), `the attack took place: ${run.stderr}`).toBe(true)
    expect(run.stderr).toContain('no sandbox here')
    const started = (await project.events()).filter(({ type }) => type === 'attempt.started')
    expect(started.map(({ data }) => data)).toMatchObject([{ sandboxed: false }])
    const [id] = (await project.json<{ id: string }>(['task', 'list'])).lines.map((row) => row.id)
    expect((await project.run(['task', 'show', id ?? ''])).stdout).toContain('unsandboxed')
    await noneLeft(project.folder)
  })

  it.skipIf(!setsid)('leaves its session and clears its environment outlives its turn, recorded as unsandboxed', { timeout }, async () => {
    const project = oneTask({
      // The turn ends once the child is out of reach: before that it would end with it.
      worker: `(env -i setsid sh -c "touch left; sleep 1; echo survived >> '{{log}}'" >/dev/null 2>&1 &)
until [ -e left ]; do sleep 0.02; done
echo x > work.txt`,
    })
    const run = await project.run(['run', 'm.yaml'], { env: withoutSandbox(project) })
    expect(run.code, run.stderr).toBe(0)
    await until('the child has written', () => project.logged('log').length > 0)
    const started = (await project.events()).find(({ type }) => type === 'attempt.started')
    expect(started?.data).toMatchObject({ sandboxed: false })
    await noneLeft(project.folder)
  })

  it('tells its judges so: the timeline that they get says that it ran without one', { timeout }, async () => {
    const project = oneTask({ worker: 'echo said' })
    project.write({ 'judge.sh': `#!/bin/sh\ncat > '${project.log('prompt')}'\necho 'SCORE: 80'\n` })
    const run = await project.run(['run', 'm.yaml'], { env: withoutSandbox(project) })
    expect(run.code, run.stderr).toBe(0)
    expect(project.logged('prompt').join('\n')).toContain('without a sandbox')
  })
})
