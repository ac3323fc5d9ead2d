import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { useAssay } from './front-door/assay.ts'
import { until, whileRuns } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

/** A poor task that proposes another, one that depends on it, and a threshold that they miss. */
function poor(onExhausted: 'fail' | 'force-accept'): Project {
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { maxAttempts: 1, onExhausted, panel: { size: 1, quorum: 1 } },
    },
    'm.yaml': {
      name: 'M',
      qualityThreshold: 3.5,
      tasks: [
        { title: 'q', assignTo: 'dev', description: 'q' },
        { title: 'r', assignTo: 'dev', description: 'r', dependsOn: ['q'] },
      ],
    },
    'brain.yaml': {
      workers: {
        q: [
          {
            write: { 'q.txt': 'q' },
            case: {
              summary: 'q is there',
              ac_coverage: [],
              delegations: [{ to: 'dev', title: 'z1', description: 'z1', criteria: ['it is there'] }],
            },
          },
        ],
        '*': [{ write: { 'x.txt': 'x' } }],
      },
      judges: { qa: { q: [{ accept: false, scores: 1 }], '*': [{ accept: true, scores: 5 }] } },
    },
  })
}

const typesOf = (events: readonly StoredEvent[], stream: string) => events.filter((one) => one.stream === stream).map(({ type }) => type)
const statuses = async (project: Project) => {
  const { lines } = await project.json<{ id: string; status: string; flag?: string }>(['task', 'list'])
  return Object.fromEntries(lines.map(({ id, status, flag }) => [id.replace('m-1/', ''), flag ?? status]))
}

const words: [string, 'fail' | 'force-accept', string[]][] = [
  ['an overrule to pass', 'fail', ['overrule', 'm-1/q', 'pass', '--reason', 'fine']],
  ['an accept of what was accepted below the bar', 'force-accept', ['requests', 'answer', 'm-1/q#1', 'accept', '--reason', 'fine']],
]

describe('the owner’s word on a task of a finished run that stays finished', () => {
  it.each(words)('%s opens the run: plain resume carries it out, and its end is written anew', { timeout }, async (_what, end, word) => {
    const project = poor(end)
    const ran = await project.run(['run', 'm.yaml'])
    expect(ran.code, ran.stderr).toBe(1)
    const before = await statuses(project)
    expect(before).toEqual(end === 'fail' ? { q: 'failed', r: 'skipped' } : { q: 'below-threshold', r: 'clean' })
    const said = await project.asOwner(word)
    expect([said.code, said.stderr]).toEqual([0, expect.stringContaining('Next: assay resume m-1')])
    const accepted = (await project.events()).findLast(({ type }) => type === 'task.accepted')
    const reopened = (await project.events()).findLast(({ type }) => type === 'mission.reopened')
    expect(reopened?.meta.at).toBe(accepted?.meta.at)
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(await statuses(project)).toEqual({ q: 'owner-accepted', r: 'clean', 'q.z1': 'clean' })
    const mission = typesOf(await project.events(), 'mission/m-1')
    expect(mission.filter((type) => type === 'mission.finished')).toHaveLength(2)
    expect(mission.slice(-2)).toEqual(['quality.threshold.passed', 'mission.finished'])
    expect((await project.run(['resume'])).stderr).toContain('Nothing to resume')
  })

  it('is carried out by a process that serves', { timeout }, async () => {
    const project = poor('fail')
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const serving = project.start(['serve', '--port', '0', '--json'])
    await whileRuns(serving, 'it serves', () => serving.stdout().includes('\n'))
    expect((await project.asOwner(['overrule', 'm-1/q', 'pass', '--reason', 'fine'])).code).toBe(0)
    await until('the run has ended anew', async () => {
      const ends = (await project.events()).filter(({ type }) => type === 'mission.finished')
      return ends.length === 2
    })
    expect(await statuses(project)).toEqual({ q: 'owner-accepted', r: 'clean', 'q.z1': 'clean' })
    serving.child.kill('SIGTERM')
    await serving.ended
  })
})
