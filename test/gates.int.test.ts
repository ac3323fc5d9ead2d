import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

/** Two tasks behind each other with a gate between them; judges score as the script says. */
function gated(scores: Record<string, number[]>, gate: object = {}, more: object = {}): Project {
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { panel: { size: 1, quorum: 1 } },
    },
    'mission.yaml': {
      name: 'M',
      tasks: [
        { title: 'build', assignTo: 'dev', description: 'b', priority: 3 },
        { title: 'free', assignTo: 'dev', description: 'f' },
        { title: 'ship', assignTo: 'dev', description: 's', dependsOn: ['build'] },
      ],
      qualityGates: [{ name: 'code-review', afterTasks: ['build'], blocksTasks: ['ship'], minScore: 4, requireAllPassed: true, ...gate }],
      ...more,
    },
    'brain.yaml': {
      workers: { '*': [{ write: { 'x.txt': '1' } }, { write: { 'x.txt': '2' } }, { write: { 'x.txt': '3' } }] },
      judges: {
        '*': Object.fromEntries(
          ['build', 'free', 'ship'].map((title) => [title, (scores[title] ?? [4]).map((score) => ({ accept: score >= 3, scores: score }))]),
        ),
      },
    },
  })
}

const typesOf = async (project: Project) => (await project.events()).map(({ type }) => type)

describe('a quality gate', () => {
  it('that passes lets through what it blocks, once', { timeout }, async () => {
    const project = gated({}, {}, { qualityThreshold: 3.5 })
    const { code, stdout, stderr } = await project.run(['run', 'mission.yaml'])
    expect(code, stdout + stderr).toBe(0)
    const types = await typesOf(project)
    expect(types.filter((type) => type === 'quality.gate.passed')).toHaveLength(1)
    expect(types.indexOf('quality.gate.passed')).toBeLessThan(types.lastIndexOf('attempt.started'))
    expect(types).toContain('quality.threshold.passed')
  })

  it('that fails halts only what it blocks, and asks; waived, the mission goes on to its end', { timeout }, async () => {
    const project = gated({ build: [3] })
    const ran = await project.run(['run', 'mission.yaml'])
    expect(ran.code).toBe(1)
    expect(ran.stdout).toMatch(/\nWaits for you: m-1\/gate:code-review#1 \(retry, waive, stop\): .*\n(.*\n)*Next: assay requests\n/)
    const rows = (await project.json<{ title: string; status: string }>(['task', 'list'])).lines
    expect(Object.fromEntries(rows.map(({ title, status }) => [title, status]))).toEqual({ build: 'done', free: 'done', ship: 'waiting' })
    const failed = (await project.events()).find(({ type }) => type === 'quality.gate.failed')
    expect(failed?.data).toMatchObject({ missionId: 'm-1', gateName: 'code-review', avgScore: { on5: 3 }, weak: ['m-1/build'] })
    const [request] = (await project.json<{ request: string; answers: string[] }>(['requests', 'list'])).lines
    expect((await project.json(['requests'])).lines).toEqual([request])
    expect((await project.run(['requests', 'list'])).stdout).toContain('m-1/gate:code-review#1')
    expect(request).toMatchObject({ about: 'gate', answers: ['retry', 'waive', 'stop'] })

    const refused = await project.run(['requests', 'answer', 'code-review', 'waive', '--reason', 'hurry'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/owner's authority/)
    expect((await project.asOwner(['requests', 'answer', 'code-review', 'waive'])).stderr).toContain('needs a reason')
    const said = await project.asOwner(['requests', 'answer', 'code-review#1', 'waive', '--reason', 'hurry'])
    expect(said.code, said.stderr).toBe(0)
    expect(said.stderr).toMatch(/^WARN: .* waived the gate m-1\/code-review: hurry$/m)
    expect((await project.run(['mission', 'list'])).stdout).toMatch(/open, 1 gate waived/)
    const resumed = await project.run(['resume'])
    expect(resumed.code).toBe(0)
    expect(resumed.stdout).toMatch(/RESULT: PASS {2}\(3 clean; 1 gate waived\)/)
    expect((await project.run(['mission', 'list'])).stdout).toMatch(/clean, 1 gate waived/)
    expect((await project.json(['mission', 'show', 'm-1'])).lines).toMatchObject([{ outcome: 'clean', waivedGates: ['code-review'] }])
    const waived = (await project.events()).find(({ type }) => type === 'gate.waived')
    expect(waived?.data).toMatchObject({ reason: 'hurry' })
    expect((await project.json(['requests'])).lines).toEqual([])
  })

  it('retried, gives its weak inputs one more attempt, and looks again', { timeout }, async () => {
    const project = gated({ build: [3, 5] })
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
    expect((await project.asOwner(['requests', 'answer', 'code-review', 'retry'])).code).toBe(0)
    const { code, stdout, stderr } = await project.run(['resume'])
    expect(code, stdout + stderr).toBe(0)
    const types = await typesOf(project)
    for (const type of ['gate.retried', 'attempts.granted', 'quality.gate.passed']) expect(types).toContain(type)
  })

  it('stopped, skips what it blocks', { timeout }, async () => {
    const project = gated({ build: [3] })
    await project.run(['run', 'mission.yaml'])
    expect((await project.asOwner(['requests', 'answer', 'code-review', 'stop', '--reason', 'not worth it'])).code).toBe(0)
    expect((await project.run(['resume'])).code).toBe(1)
    const rows = (await project.json<{ title: string; status: string }>(['task', 'list'])).lines
    expect(rows.find(({ title }) => title === 'ship')?.status).toBe('skipped')
  })

  it('says which of its inputs is held, in the run and afterwards', { timeout }, async () => {
    const project = gated({ build: [2] })
    project.write({ 'assay.yaml': project.read('assay.yaml').replace('review:', 'review:\n  onExhausted: escalate\n  maxAttempts: 1') })
    const ran = await project.run(['run', 'mission.yaml'])
    expect(ran.code).toBe(3)
    const said = /ate code-review: waits for m-1\/build, which is held \(escalated\)\n/
    expect(ran.stdout).toMatch(said)
    expect(ran.stdout).toContain('Waits for you: m-1/build#1')
    expect((await project.run(['mission', 'show', 'm-1'])).stdout).toMatch(said)
    const [shown] = (await project.json<{ gates: object[] }>(['mission', 'show', 'm-1'])).lines
    expect(shown?.gates).toMatchObject([{ name: 'code-review', status: 'waiting', heldInputs: [{ task: 'm-1/build', held: 'escalated' }] }])
    const result = (await project.json(['resume', 'm-1'])).lines.at(-1)
    expect(result).toMatchObject({
      heldInputs: [{ gate: 'code-review', task: 'm-1/build', held: 'escalated' }],
      requests: [{ request: 'm-1/build#1' }],
    })
  })

  it('is skipped without evaluation, and the mission is marked unreviewed', { timeout }, async () => {
    const project = gated({})
    expect((await project.run(['run', 'mission.yaml', '--no-eval'])).code).toBe(0)
    expect(await typesOf(project)).toContain('quality.gate.skipped')
  })
})

describe('a gate that failed for an input', () => {
  /** `Low` is never good enough; `T1` waits behind the gate for it and for `High`. */
  const withWeakInput = (gate: object = {}): Project => {
    const project = gated({}, {})
    const reject = { accept: false, scores: 2 }
    const accept = { accept: true, scores: 5 }
    project.write({
      'mission.yaml': {
        name: 'M',
        tasks: ['Low', 'High', 'T1'].map((title) => ({ title, assignTo: 'dev', description: title })),
        qualityGates: [{ name: 'g', afterTasks: ['Low', 'High'], blocksTasks: ['T1'], requireAllPassed: true, ...gate }],
      },
      'brain.yaml': {
        workers: { '*': [{ write: { 'x.txt': '1' } }, { write: { 'x.txt': '2' } }] },
        judges: { '*': { Low: [reject, reject], High: [accept], T1: [accept] } },
      },
    })
    return project
  }

  it.each([
    ['an overrule to pass', ['overrule', 'm-1/low', 'pass', '--reason', 'ok']],
    ['the owner who accepts it', ['requests', 'answer', 'm-1/low#1', 'accept', '--reason', 'ok']],
  ])('is looked at again after %s, and the mission goes on', { timeout }, async (_what, answer) => {
    const project = withWeakInput()
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
    const said = await project.asOwner(answer)
    expect(said.code, said.stderr).toBe(0)
    const { code, stdout, stderr } = await project.run(['resume'])
    expect(code, stdout + stderr).toBe(0)
    const types = await typesOf(project)
    expect(types.filter((type) => type === 'quality.gate.failed')).toHaveLength(1)
    expect(types.filter((type) => type === 'quality.gate.passed')).toHaveLength(1)
    expect((await project.json(['requests'])).lines).toEqual([])
  })

  it('asks anew where it still does not pass, for what is left', { timeout }, async () => {
    const project = withWeakInput({ minScore: 4 })
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
    expect((await project.asOwner(['overrule', 'm-1/low', 'pass', '--reason', 'ok'])).code).toBe(0)
    expect((await project.run(['resume'])).code).toBe(1)
    const failed = (await project.events()).filter(({ type }) => type === 'quality.gate.failed')
    expect(failed.map(({ data }) => (data as { reason: string }).reason)).toEqual([
      expect.stringMatching(/^m-1\/low is below-threshold; the average/),
      expect.stringMatching(/^the average/),
    ])
    const requests = (await project.json<{ request: string; about: string }>(['requests'])).lines
    expect(requests.filter(({ about }) => about === 'gate').map(({ request }) => request)).toEqual(['m-1/gate:g#2'])
    // Nothing changed since: nothing is said again.
    await project.run(['resume'])
    expect((await typesOf(project)).filter((type) => type === 'quality.gate.failed')).toHaveLength(2)
  })
})

describe('missions', () => {
  it('are listed, shown, stopped and retried by the owner', { timeout }, async () => {
    const project = gated({ build: [3] })
    await project.run(['run', 'mission.yaml'])
    expect((await project.json<{ id: string }>(['mission', 'list'])).lines).toMatchObject([{ id: 'm-1', tasks: 3 }])
    const [shown] = (await project.json<{ gates: object[]; tasks: object[] }>(['mission', 'show', 'm-1'])).lines
    expect(shown?.gates).toMatchObject([{ name: 'code-review', status: 'failed' }])
    expect(shown?.tasks).toHaveLength(3)
    expect((await project.run(['mission', 'stop', 'm-1', '--reason', 'enough'])).code).toBe(2)
    expect((await project.asOwner(['mission', 'stop', 'm-1', '--reason', 'enough'])).stdout).toBe(
      'stopped: m-1/ship, m-1/gate:code-review\n',
    )
    expect((await project.json(['requests'])).lines).toEqual([])
    expect((await project.json(['mission', 'list'])).lines).toMatchObject([{ id: 'm-1', finished: expect.any(String), outcome: 'failed' }])
    const answered = (await project.events()).filter(({ type }) => type === 'operator.answered' || type === 'gate.stopped')
    expect(answered.map(({ data }) => data)).toMatchObject([{ answer: 'stop', reason: 'enough' }, { reason: 'enough' }])
    expect((await project.run(['resume'])).stderr).toContain('every mission is finished')
    expect((await project.asOwner(['mission', 'stop', 'm-1', '--reason', 'enough'])).stdout).toContain('there is nothing to do')
    const retried = await project.asOwner(['mission', 'retry', 'm-1'])
    expect(retried).toMatchObject({ code: 2, stdout: '' })
    expect(retried.stderr).toContain('m-1/ship: the gate code-review before it was stopped')
    expect((await project.run(['mission', 'show', 'm-9'])).stderr).toContain('there are: m-1')
  })
})

describe('a task that is held after the owner overruled it to fail', () => {
  it('is told with what holds it, not with the words of the judge who was content before', { timeout }, async () => {
    const project = gated({})
    const same = { write: { 'x.txt': 'the same' } }
    const content = [{ accept: true, scores: 4 }]
    project.write({ 'brain.yaml': { workers: { '*': [same, same, same] }, judges: { '*': { '*': content } } } })
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(0)
    expect((await project.asOwner(['overrule', 'm-1/ship', 'fail', '--reason', 'not so'])).code).toBe(0)
    const resumed = await project.run(['resume'])
    expect(resumed.code).toBe(3)
    expect(resumed.stdout).toMatch(/Top concern \(ship .*\): the attempts are used up/)
    expect(resumed.stdout).not.toContain('Nothing stands in the way')
  })
})

describe('a quality threshold', () => {
  it('weighs by priority, and missed it makes the exit code 1', { timeout }, async () => {
    const project = gated({ build: [5], free: [3], ship: [3] }, { minScore: 3 }, { qualityThreshold: 4.5 })
    const { code, stdout } = await project.run(['run', 'mission.yaml'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/threshold of m-1: missed\..*\n {2}assay mission waive m-1 --reason <text>\n/)
    const failed = (await project.events()).find(({ type }) => type === 'quality.threshold.failed')
    // (5 × 3 + 3 + 3) ÷ 5 = 4.2
    expect(failed?.data).toMatchObject({ missionId: 'm-1', avgScore: { on5: 4.2 }, threshold: 4.5 })
    expect((await project.run(['mission', 'list'])).stdout).toMatch(/failed, threshold missed/)

    const waived = await project.asOwner(['mission', 'waive', 'm-1', '--reason', 'good enough'])
    expect(waived.code).toBe(0)
    expect(waived.stderr).toMatch(/^WARN: .* waived the missed quality threshold of m-1: good enough$/m)
    const listed = (await project.run(['mission', 'list'])).stdout
    expect(listed).toMatch(/clean, threshold waived/)
    expect(listed).not.toMatch(/failed/)
    const resumed = await project.run(['resume', 'm-1'])
    expect(resumed.code).toBe(0)
    expect(resumed.stdout).toMatch(/RESULT: PASS {2}\(3 clean; threshold waived\)/)
  })
})
