import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const launcher = new URL('../bin/assay.mjs', import.meta.url).pathname
const strict = '#!/bin/sh\necho "Not good."\necho "SCORE: 30"\n'
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-judge-'))
  const script = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o755)
  }
  script('critic.sh', strict)
  script('worker.sh', `#!/bin/sh\nprintf '#!/bin/sh\\necho "SCORE: 100"\\n' > "${folder}/critic.sh"\necho tried >> tried.txt\necho done\n`)
  writeFileSync(
    join(folder, 'assay.yaml'),
    `brains:
  hands: { kind: command, argv: [./worker.sh] }
  eyes: { kind: command, argv: [./critic.sh] }
agents:
  dev: { role: engineer, brain: hands }
  qa: { role: reviewer, brain: eyes }
  qa2: { role: reviewer, brain: eyes, instructions: Again. }
review: { maxAttempts: 1 }
limits: { judgeRetries: 0 }
`,
  )
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a worker that rewrites its judge', () => {
  it.each(['scratch', '{ folder: . }'])('is never accepted on the rewritten word (workspace %s)', (workspace) => {
    writeFileSync(join(folder, 'm.yaml'), `name: m\ntasks:\n  - { title: t, assignTo: dev, workspace: ${workspace} }\n`)
    const run = spawnSync(process.execPath, [launcher, 'run', 'm.yaml', '--json'], { cwd: folder, encoding: 'utf8', timeout: 120_000 })
    const result = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '{}') as { tasks: { flag?: string }[] }
    expect(result.tasks.map((task) => task.flag)).not.toContain('clean')
    expect(run.status).not.toBe(0)
    // Either the sandbox kept the file as it was, or the changed judge was not asked.
    const rewritten = readFileSync(join(folder, 'critic.sh'), 'utf8') !== strict
    if (rewritten) expect(run.stdout).toContain('changed since the run began')
    else expect(run.stdout).toContain('Not good.')
  })
})
