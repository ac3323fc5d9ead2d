import { describe, expect, it } from 'vitest'
import { answering, hanging, startHttpReceiver } from '../src/adapters/notify/testing/http-receiver.ts'
import { startSmtpSink } from '../src/adapters/notify/testing/smtp-sink.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

/** Two tasks with a gate between them. */
function notified(channels: object, rules: object[], score: number, gate: object = {}, notify: object = {}): Project {
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { panel: { size: 1, quorum: 1 } },
      notify: { channels, rules, ...notify },
    },
    'mission.yaml': {
      name: 'M',
      tasks: [
        { title: 'build', assignTo: 'dev', description: 'b' },
        { title: 'ship', assignTo: 'dev', description: 's', dependsOn: ['build'] },
      ],
      qualityGates: [{ name: 'code-review', afterTasks: ['build'], blocksTasks: ['ship'], minScore: 4, ...gate }],
    },
    'brain.yaml': {
      workers: { '*': [{ write: { 'x.txt': '1' } }] },
      judges: { '*': { build: [{ accept: true, scores: score }], ship: [{ accept: true, scores: 4 }] } },
    },
  })
}

const told = (bodies: { body: string }[]) =>
  bodies.map(({ body }) => (JSON.parse(body) as { type: string }).type.replace(/^dev\.assay\.|\.v1$/g, ''))

describe('a run', () => {
  it("tells a gate's channels and those of the rules, the end of the mission included", { timeout }, async () => {
    await using gate = await startHttpReceiver()
    await using rule = await startHttpReceiver()
    const channels = { gate: { kind: 'webhook', urlEnv: 'GATE' }, rule: { kind: 'webhook', urlEnv: 'RULE' }, here: { kind: 'stderr' } }
    const rules = [{ events: ['task.accepted', 'mission.*'], channels: ['rule', 'here'] }]
    const project = notified(channels, rules, 4, { notifyChannels: ['gate'] })
    const ended = await project.run(['run', 'mission.yaml'], { env: { GATE: gate.url, RULE: rule.url } })
    expect(ended.code, ended.stderr).toBe(0)
    expect(told(gate.received)).toEqual(['quality.gate.passed'])
    expect(told(rule.received).sort()).toEqual(['mission.finished', 'mission.started', 'task.accepted', 'task.accepted'])
    expect(ended.stderr).toContain('assay: [info] Mission finished clean: m-1')
    const types = (await project.events()).map(({ type }) => type)
    expect(types.filter((type) => type === 'notification.delivered')).toHaveLength(9)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('that is over is told of by a bare resume, once its receiver is back', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(500))
    const project = notified({ hook: { kind: 'webhook', url: receiver.url } }, [{ events: ['mission.finished'], channels: ['hook'] }], 4)
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(0)
    expect(receiver.received).toHaveLength(1)
    const finding = async () =>
      (await project.json<{ id: string; detail: string }>(['doctor'])).lines.find(({ id }) => id === 'notifications')
    expect(await finding()).toMatchObject({ detail: '1 waits to be sent; none was given up' })
    receiver.answer = answering(204)
    await expect
      .poll(
        async () => {
          const { code, stderr } = await project.run(['resume'])
          expect(code).toBe(0)
          expect(stderr).toContain('Nothing to resume')
          return (await project.events()).filter(({ type }) => type === 'notification.delivered').length
        },
        { timeout: 90_000, interval: 2000 },
      )
      .toBe(1)
    expect(await finding()).toMatchObject({ detail: 'none waits, none was given up' })
  })

  it('goes on whatever its receivers do, and tells later what it could not tell', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(500))
    await using silent = await startHttpReceiver(hanging)
    const channels = {
      hook: { kind: 'webhook', url: receiver.url },
      silent: { kind: 'webhook', url: silent.url },
      gone: { kind: 'slack', urlEnv: 'NOT_SET' },
    }
    const rules = [{ events: ['quality.gate.*'], channels: ['hook', 'silent', 'gone'] }]
    const project = notified(channels, rules, 3)
    const ended = await project.run(['run', 'mission.yaml'])
    expect(ended.code, ended.stderr).toBe(1)
    expect(receiver.received.length).toBeGreaterThan(0)
    expect(silent.received.length).toBeGreaterThan(0)
    expect(ended.stdout).toMatch(/^Notifications: 1 given up \(the last on gone: .*\n?.*[1-9] still to be sent/m)
    const dead = (await project.events()).filter(({ type }) => type === 'notification.failed')
    expect(dead.map(({ data }) => data)).toMatchObject([{ channel: 'gone', detail: 'the environment variable NOT_SET is not set' }])
    receiver.answer = answering(204)
    const [request] = (await project.json<{ request: string }>(['requests'])).lines
    const answer = ['requests', 'answer', request?.request ?? '', 'waive', '--reason', 'known']
    await expect
      .poll(
        async () => {
          await project.asOwner(answer)
          await project.run(['resume', 'm-1'])
          return (await project.events()).filter(({ type }) => type === 'notification.delivered').length
        },
        { timeout: 90_000, interval: 2000 },
      )
      .toBeGreaterThan(0)
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })

  it('assay notify test says what happened', { timeout }, async () => {
    await using receiver = await startHttpReceiver()
    const project = notified({ hook: { kind: 'webhook', url: receiver.url } }, [], 4)
    expect((await project.run(['notify', 'test', 'hook'])).stdout).toBe('hook (webhook): delivered\n')
    expect((await project.run(['notify', 'test', 'hok'])).code).toBe(2)
    expect(told(receiver.received)).toEqual(['notification.tried'])
    await using sink = await startSmtpSink()
    const letters = { kind: 'email', host: '127.0.0.1', port: sink.port, from: 'a@example.org', to: ['b@example.org'] }
    const { stdout, stderr } = await notified({ letters }, [], 4).run(['notify', 'test', 'letters'])
    expect(stdout, stderr).toBe('letters (email): delivered\n')
    expect(sink.letters).toHaveLength(1)
  })
})
