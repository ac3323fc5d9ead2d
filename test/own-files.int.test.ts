import { describe, expect, it } from 'vitest'
import type { CheckReport } from '../src/contract/check.ts'
import { useAssay } from './front-door/assay.ts'
import { type OneTask, oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const once = { maxAttempts: 1 }

/** What the first check said. */
async function report(project: Project): Promise<CheckReport | undefined> {
  const checked = (await project.events()).find(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  return (checked?.data as { reports: CheckReport[] } | undefined)?.reports[0]
}

/** One attempt at work that a check with these words looks at. */
function checkedBy(argv: string[], more: Partial<OneTask> & { worker: string }, check: Record<string, unknown> = {}): Project {
  return oneTask({ review: once, ...more, task: { ...more.task, checks: [{ kind: 'command', argv, ...check }] } })
}

describe('a judge that is a program', () => {
  const verdicts = async (project: Project) =>
    JSON.stringify((await project.events()).filter(({ type }) => type === 'verdict.recorded').map(({ data }) => data))

  it('does not load files that the work has under the names of its own', { timeout }, async () => {
    const project = oneTask({
      worker: `echo "console.log('SCORE: 100'); process.exit(0)" > setup.mjs; echo bad > out.txt`,
      eyes: { argv: ['node', '--import=./setup.mjs', 'critic.mjs'] },
      review: once,
    })
    project.write({ 'setup.mjs': '', 'critic.mjs': "console.log('No.')\nconsole.log('SCORE: 10')\n" })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(await verdicts(project)).toContain('SCORE: 10')
  })

  it('loads what lies beside it as it was before the work', { timeout }, async () => {
    const project = oneTask({
      worker: `echo 'export const score = 100' > lib/rubric.mjs; echo bad > out.txt`,
      eyes: { argv: ['node', 'critic.mjs'] },
      task: { workspace: { folder: '.' } },
      review: once,
    })
    project.write({
      'lib/rubric.mjs': 'export const score = 10\n',
      'critic.mjs': `import { readFileSync } from 'node:fs'
import { score } from './lib/rubric.mjs'
console.log(readFileSync(process.env.ASSAY_SNAPSHOT + '/out.txt', 'utf8'))
console.log('SCORE: ' + score)
`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(await verdicts(project)).toContain('SCORE: 10')
    expect(await verdicts(project)).toContain('bad')
  })

  it('is not asked on resume when it is another than before, until the owner says so', { timeout }, async () => {
    const project = oneTask({ worker: 'echo x > work.txt', judge: 'echo mumble', review: { ...once, onUnreadable: 'hold' } })
    await project.run(['run', 'm.yaml'])
    const same = await project.run(['resume'])
    expect(same.stderr).not.toContain('another policy')
    project.write({ 'judge.sh': '#!/bin/sh\necho "SCORE: 100"\n' })
    const refused = await project.run(['resume'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('judge.sh')
    expect((await project.events()).some(({ type }) => type === 'verdict.recorded')).toBe(false)
    expect((await project.asOwner(['resume', '--accept-policy'])).stderr).toContain('the changed policy is in force')
  })
})

describe('the program of a check', () => {
  it('is what the base has where an interpreter runs it', { timeout }, async () => {
    const project = checkedBy(['sh', 'check.sh'], {
      worker: `echo bad > out.txt; echo 'exit 0' > check.sh`,
      task: { workspace: { folder: '.' } },
    })
    project.write({ 'check.sh': 'grep good out.txt\n' })
    await project.run(['run', 'm.yaml'])
    expect(await report(project)).toMatchObject({ outcome: 'fail', findings: ['check.sh is protected and was edited'] })
  })

  it('is found from the configuration’s folder in a workspace below it', { timeout }, async () => {
    const project = checkedBy(['node', 'app/check.mjs'], {
      worker: `echo 'process.exit(0)' > check.mjs; echo x > y.txt`,
      task: { workspace: { folder: 'app' } },
    })
    project.write({ 'app/check.mjs': 'process.exit(7)\n' })
    await project.run(['run', 'm.yaml'])
    expect(await report(project)).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('exit code 7'),
      findings: ['check.mjs is protected and was edited'],
    })
  })

  it('is the one beside the configuration where the base has none', { timeout }, async () => {
    const project = checkedBy(['sh', 'check.sh'], { worker: `echo bad > out.txt; echo 'exit 0' > check.sh` })
    project.write({ 'check.sh': 'grep good out.txt\n' })
    await project.run(['run', 'm.yaml'])
    expect(await report(project)).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('exit code 1') })
  })

  it('is not one that the worker has put beside the configuration', { timeout }, async () => {
    const project = checkedBy(['./check.sh'], {
      worker: `echo bad > out.txt; printf '#!/bin/sh\\nexit 0\\n' > check.sh; chmod +x check.sh`,
      task: { workspace: { folder: '.' } },
    })
    await project.run(['run', 'm.yaml'])
    expect(await report(project)).toMatchObject({ outcome: 'error', summary: expect.stringContaining('not in the base of the work') })
  })

  it('that only the work has is said to be the worker’s own', { timeout }, async () => {
    const project = checkedBy(['sh', 'greet.sh'], { worker: 'echo "echo hello" > greet.sh' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await report(project)).toMatchObject({ outcome: 'pass', findings: [expect.stringContaining('greet.sh is run by the check')] })
  })
})

describe('the copy that a check runs in', () => {
  const climbing = `import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
for (let at = process.cwd(); at !== dirname(at); at = dirname(at)) if (existsSync(join(at, 'lenient.txt'))) process.exit(0)
process.exit(9)
`

  it('has no live files of the worker above it', { timeout }, async () => {
    const project = checkedBy(
      ['node', 'check.mjs'],
      { worker: 'echo yes > lenient.txt; echo bad > out.txt', task: { workspace: { folder: '.' } } },
      { protect: ['lenient.txt'] },
    )
    project.write({ 'check.mjs': climbing })
    await project.run(['run', 'm.yaml'])
    expect(await report(project)).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('exit code 9') })
  })

  it.each(['site', 'site/pages'])('has the packages of its workspace, or of the nearest folder above (%s)', { timeout }, async (folder) => {
    const project = checkedBy(['node', 'check.mjs'], { worker: 'echo x > work.txt', task: { workspace: { folder } } })
    project.write({
      [`${folder}/check.mjs`]: `import pad from 'pad'\nif (pad !== 'right') process.exit(1)\n`,
      'site/node_modules/pad/package.json': '{"name":"pad","type":"module","main":"index.js"}\n',
      'site/node_modules/pad/index.js': `export default 'right'\n`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await report(project)).toMatchObject({ outcome: 'pass', findings: [] })
  })
})
