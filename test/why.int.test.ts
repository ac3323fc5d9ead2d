import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { makeProject } from './front-door/project.ts'

const timeout = 300_000
useAssay()

describe('assay why', () => {
  it('tells a task below the bar from a clean one, in at most ten lines with the next command', { timeout }, async () => {
    const project = oneTask({ worker: 'echo "$ASSAY_ATTEMPT" > a.txt', judge: "echo 'Thin work.'; echo 'SCORE: 40'" })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const { code, stdout } = await project.run(['why', 'a'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^a {2}BELOW BAR\nbecause its attempts are used up, and it was accepted below the bar: 40\/100/)
    expect(stdout).toContain('decision 2: attempt 2 rejected')
    expect(stdout).toMatch(/\nNext: assay requests answer m-1\/a#\d <.*> --reason <why>\n$/)
    const { lines } = await project.json<{ kind: string; chain: string[]; next: string }>(['why', 'm-1/a'])
    expect(lines).toMatchObject([{ kind: 'why', id: 'm-1/a', state: 'BELOW BAR' }])
    expect(lines[0]?.chain.length).toBeLessThanOrEqual(7)
    expect(stdout).toContain(`Next: ${lines[0]?.next}`)
  })

  it('leads from a task that was skipped to the one that failed', { timeout }, async () => {
    const project = makeProject({
      'assay.yaml': {
        brains: { hands: { kind: 'command', argv: ['./worker.sh'] } },
        agents: { dev: { role: 'engineer', brain: 'hands' } },
        review: { maxAttempts: 1, onExhausted: 'fail' },
      },
      'worker.sh': '#!/bin/sh\nexit 3\n',
      'm.yaml': {
        name: 'M',
        tasks: ['a', 'b', 'c'].map((title, index, all) => ({ title, assignTo: 'dev', dependsOn: index === 0 ? [] : [all[index - 1]] })),
      },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const [last] = (await project.json(['why', 'c'])).lines
    expect(last).toMatchObject({ state: 'skipped', next: 'assay why m-1/a' })
    expect(JSON.stringify(last?.chain)).toContain('which waits for a (failed')
    expect((await project.json(['why', 'a'])).lines).toMatchObject([{ state: 'failed', next: 'assay mission retry m-1 --reason <why>' }])
    expect(await project.run(['why', 'z'])).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no task or deliverable z') })
  })
})
