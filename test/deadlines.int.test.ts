import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { noneLeft } from './front-door/processes.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const slaOf = async (project: Project) =>
  (await project.events())
    .filter(({ type }) => type.startsWith('sla.'))
    .map(({ type, data }) => [type, (data as { entityId: string }).entityId])

function withDeadline(worker: string, task: string, more: { mission?: string; action?: string } = {}): Project {
  const project = oneTask({ worker, task: { deadline: task } })
  const add = (file: string, line: string) => project.write({ [file]: `${project.read(file)}\n${line}\n` })
  add('assay.yaml', `sla: { checkIntervalMs: 100, violationAction: ${more.action ?? 'notify'} }`)
  if (more.mission !== undefined) add('m.yaml', `deadline: ${more.mission}`)
  return project
}

describe('deadlines', () => {
  it('that are met are noted once, of tasks and of missions, also over further runs', { timeout }, async () => {
    const project = withDeadline('echo done', '1h', { mission: '2h' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const met = [
      ['sla.met', 'm-1/a'],
      ['sla.met', 'm-1'],
    ]
    expect(await slaOf(project)).toEqual(expect.arrayContaining(met))
    await project.run(['resume', 'm-1'])
    expect(await slaOf(project)).toHaveLength(2)
  })

  it('that pass are warned of and reported once; the work goes on', { timeout }, async () => {
    const project = withDeadline('sleep 1.5; echo done', '1s')
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await slaOf(project)).toEqual([
      ['sla.warning', 'm-1/a'],
      ['sla.violated', 'm-1/a'],
    ])
  })

  it('that pass end the task where the policy says so, its worker too, and nothing is met', { timeout }, async () => {
    const project = withDeadline('sleep 600', '1s', { action: 'fail' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    await noneLeft(project.folder)
    const events = await project.events()
    expect(events.filter(({ type }) => type === 'sla.violated')).toHaveLength(1)
    expect(events.find(({ type }) => type === 'task.failed')?.data).toMatchObject({ reason: expect.stringContaining('deadline') })
    expect(events.some(({ type }) => type === 'sla.met')).toBe(false)
  })

  it('of a mission end all that is unfinished in it', { timeout }, async () => {
    const project = withDeadline('sleep 600', '1h', { mission: '1s', action: 'fail' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect((await slaOf(project)).filter(([type]) => type === 'sla.violated')).toEqual([['sla.violated', 'm-1']])
  })

  it('that begin in the middle of a run end the task on time, however rarely deadlines are looked at', { timeout }, async () => {
    const project = withDeadline('case "$ASSAY_TASK" in */late) sleep 45;; esac; echo done', '1h', { action: 'fail' })
    const assay = project.read('assay.yaml')
    project.write({
      'assay.yaml': assay.replace('checkIntervalMs: 100', 'checkIntervalMs: 600000'),
      'm.yaml': {
        name: 'M',
        tasks: [
          { title: 'first', assignTo: 'dev', description: 'Do it.' },
          { title: 'late', assignTo: 'dev', description: 'Do it.', dependsOn: ['first'], deadline: '1s' },
        ],
      },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const failed = (await project.events()).filter(({ type }) => type === 'task.failed')
    expect(failed.map(({ stream }) => stream)).toEqual(['task/m-1/late'])
  })

  it('do under a changed policy what the owner lets them do: it is refused by name until then', { timeout }, async () => {
    const project = withDeadline('exit 1', '1h', { action: 'fail' })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
    project.write({ 'assay.yaml': project.read('assay.yaml').replace('violationAction: fail', 'violationAction: notify') })
    const refused = await project.run(['resume'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('sla.violationAction: "fail" → "notify"')
  })

  it('that have passed are refused of tasks that are added, at their place', { timeout }, async () => {
    const project = withDeadline('exit 1', '1h')
    expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
    const late = '2020-01-01T00:00:00Z'
    project.write({ 'more.yaml': `tasks:\n  - { title: H, assignTo: dev, description: h, deadline: "${late}" }\n` })
    const refused = await project.asOwner(['mission', 'add', 'm-1', 'more.yaml'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/^more\.yaml:2:\d+: .*has passed/m)
    expect((await project.events()).filter(({ type }) => type === 'task.created')).toHaveLength(1)
  })
})
