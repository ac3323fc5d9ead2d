import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

const config = (review: object = {}) => ({
  brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
  review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, onExhausted: 'escalate', ...review },
})
const task = (title: string, more: object = {}) => ({ title, assignTo: 'dev', description: title, ...more })

function project(score: number, mission: object = {}): Project {
  return makeProject({
    'assay.yaml': config(),
    'mission.yaml': { name: 'M', tasks: [task('first')], ...mission },
    'brain.yaml': {
      workers: { '*': [{ write: { 'x.txt': '1' } }, { write: { 'x.txt': '2' } }] },
      judges: { '*': { '*': [{ accept: score >= 3, scores: score }] } },
    },
  })
}

const rowsOf = async (made: Project) =>
  Object.fromEntries(
    (await made.json<{ title: string; flag?: string; status: string }>(['task', 'list'])).lines.map(({ title, flag, status }) => [
      title,
      flag ?? status,
    ]),
  )

describe('a policy that changes under a mission', () => {
  it('is refused with what changed, needs the owner, and then decides whatever is decided later', { timeout }, async () => {
    const made = project(2)
    expect((await made.run(['run', 'mission.yaml'])).code).toBe(3)
    made.write({ 'assay.yaml': config({ threshold: 40, maxAttempts: 2 }) })
    const refused = await made.run(['resume'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('review.threshold: 60 → 40')
    expect(refused.stderr).toContain('--accept-policy')
    const notOwner = await made.run(['resume', '--accept-policy'])
    expect(notOwner).toMatchObject({ code: 2, stderr: expect.stringMatching(/owner's authority/) })
    const owned = await made.asOwner(['resume', '--accept-policy'])
    expect(owned.stderr).toContain('the changed policy is in force')
    expect((await made.run(['resume'])).stderr).not.toContain('another policy')
    const adopted = (await made.events()).find(({ type }) => type === 'policy.adopted')
    expect(adopted?.data).toMatchObject({ bar: 40 })
    expect((await made.run(['audit', 'verify'])).code).toBe(0)
  })
})

describe('adding tasks to a run', () => {
  it('takes what the file has more, runs it after what it depends on, and refuses what is wrong in it', { timeout }, async () => {
    const made = project(4)
    expect((await made.run(['run', 'mission.yaml'])).code).toBe(0)
    made.write({ 'more.yaml': { name: 'M', tasks: [task('second', { dependsOn: ['first'] }), task('third', { dependsOn: ['second'] })] } })
    expect((await made.run(['mission', 'add', 'm-1', 'more.yaml'])).code).toBe(2)
    const added = await made.asOwner(['mission', 'add', 'm-1', 'more.yaml'])
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('m-1/second, m-1/third') })
    expect((await made.asOwner(['mission', 'add', 'm-1', 'more.yaml'])).stdout).toContain('every task')
    const resumed = await made.run(['resume'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    expect(await rowsOf(made)).toEqual({ first: 'clean', second: 'clean', third: 'clean' })

    made.write({
      'bad.yaml': {
        name: 'M',
        tasks: [task('a', { dependsOn: ['b'] }), task('b', { dependsOn: ['a'] }), task('c', { dependsOn: ['ghost'] })],
      },
    })
    const bad = await made.asOwner(['mission', 'add', 'm-1', 'bad.yaml'])
    expect(bad.code).toBe(2)
    expect(bad.stderr).toMatch(/bad\.yaml:\d+:\d+.*ghost/)
    expect(Object.keys(await rowsOf(made))).toHaveLength(3)
    expect((await made.asOwner(['mission', 'add', 'm-9', 'more.yaml'])).stderr).toContain('there is no mission m-9')
  })
})

describe('a missed quality threshold', () => {
  it('counts until the owner waives it, with a reason', { timeout }, async () => {
    const made = project(4, { qualityThreshold: 4.5 })
    expect((await made.run(['run', 'mission.yaml'])).code).toBe(1)
    expect((await made.run(['mission', 'waive', 'm-1', '--reason', 'fine'])).code).toBe(2)
    expect((await made.asOwner(['mission', 'waive', 'm-1', '--reason', 'fine'])).code).toBe(0)
    expect((await made.asOwner(['mission', 'waive', 'm-1', '--reason', 'again'])).stderr).toContain('has missed no quality threshold')
    expect((await made.events()).find(({ type }) => type === 'threshold.waived')?.data).toMatchObject({ reason: 'fine' })
    expect((await made.run(['resume', 'm-1'])).code).toBe(0)
  })
})
