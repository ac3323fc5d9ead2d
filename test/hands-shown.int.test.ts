import { expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'

const timeout = 120_000
useAssay()

it('task show --json has what a check printed, whether it passed or not', { timeout }, async () => {
  const shell = (id: string, text: string) => ({ id, kind: 'command', argv: ['sh', '-c', text], proves: [] })
  const project = oneTask({
    worker: 'echo x > work.txt',
    review: { maxAttempts: 1 },
    task: { checks: [shell('passes', 'echo all $((6 + 6)) tests pass'), shell('fails', 'echo 1 test fails; exit 1')] },
  })
  await project.run(['run', 'm.yaml'])
  const { lines } = await project.json<{ checks: object[] }>(['task', 'show', 'a'])
  expect(lines[0]?.checks).toMatchObject([
    { id: 'passes', outcome: 'pass', output: 'all 12 tests pass\n' },
    { id: 'fails', outcome: 'fail', output: '1 test fails\n' },
  ])
  const { stdout } = await project.run(['task', 'show', 'a'])
  expect(stdout).toContain('1 test fails')
  expect(stdout, 'a person reads only what went wrong').not.toContain('all 12 tests pass')
})
