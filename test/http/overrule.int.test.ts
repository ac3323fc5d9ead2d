import { describe, expect, it } from 'vitest'
import { useAssay } from '../front-door/assay.ts'
import { until, whileRuns } from '../front-door/processes.ts'
import { makeProject, parseLines, type Project } from '../front-door/project.ts'
import { type Asking, ask } from './open-door.ts'

useAssay()

const timeout = 120_000
const owner = 'the-owner-of-the-test'
const yaml = { 'content-type': 'application/yaml' }

/** `a` is rejected at first and accepted at its second attempt; `b` depends on it. */
const project = (): Project =>
  makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
      review: { maxAttempts: 1, onExhausted: 'fail', panel: { size: 1, quorum: 1 } },
    },
    'brain.yaml': {
      workers: { a: [{ write: { 'a.txt': 'one' } }, { write: { 'a.txt': 'two' } }], '*': [{ write: { 'x.txt': 'x' } }] },
      judges: { qa: { poor: [{ accept: false, scores: 1 }], '*': [{ accept: true, scores: 5 }] } },
    },
  })

async function serving(made: Project) {
  made.write({ '.config/assay/owner-token': `${owner}\n` })
  const running = made.start(['serve', '--port', '0', '--json'])
  await whileRuns(running, 'it serves', () => running.stdout().includes('\n'))
  const [said] = parseLines<{ port: number }>(running.stdout())
  if (!said) throw new Error('it said nothing')
  const speak = (path: string, asking?: Asking) => ask(said.port, path, { token: owner, ...asking })
  const ends = async () => (await made.events()).filter(({ type }) => type === 'mission.finished').length
  return {
    ask: speak,
    /** Starts a mission and waits for its end. */
    finish: async (tasks: string) => {
      expect((await speak('/v1/missions', { body: `name: M\ntasks: ${tasks}`, headers: yaml })).status).toBe(201)
      await until('the mission is finished', async () => (await ends()) === 1)
    },
    endsAnew: () => until('the mission has ended anew', async () => (await ends()) === 2),
    outcome: async (): Promise<string> => (await speak('/v1/missions/m-1')).json.mission.outcome,
    task: async (title: string) => (await speak(`/v1/tasks/m-1%2F${title}`)).json.task,
    end: async () => {
      running.child.kill('SIGTERM')
      expect((await running.ended).code).toBe(0)
    },
  }
}

const overrule = (outcome: string): Asking => ({ body: { outcome, reason: 'the client called' } })

describe('an overrule over HTTP of a task whose mission is finished', () => {
  it('to pass is carried out by the server: what was skipped is done, and the end is written anew', { timeout }, async () => {
    const made = project()
    const server = await serving(made)
    await server.finish('[{ title: poor, assignTo: dev, description: d }, { title: b, assignTo: dev, description: d, dependsOn: [poor] }]')
    expect([await server.outcome(), (await server.task('b')).status]).toEqual(['failed', 'skipped'])
    const said = await server.ask('/v1/tasks/m-1%2Fpoor/overrule', overrule('pass'))
    expect([said.status, said.json]).toEqual([200, { task: 'm-1/poor', outcome: 'pass', by: expect.any(String) }])
    await server.endsAnew()
    expect(await server.outcome()).toBe('owner-accepted')
    expect(await server.task('poor')).toMatchObject({ status: 'done', flag: 'owner-accepted' })
    expect(await server.task('b')).toMatchObject({ status: 'done', flag: 'clean' })
    const events = await made.events()
    const position = (type: string) => events.findLast((event) => event.type === type)?.position ?? 0
    expect(position('mission.reopened')).toBeGreaterThan(position('task.overruled'))
    expect(position('mission.finished')).toBeGreaterThan(position('mission.reopened'))
    await server.end()
  })

  it('to fail gives it one more attempt, and what depends on it is done again on the new work', { timeout }, async () => {
    const made = project()
    const server = await serving(made)
    await server.finish('[{ title: a, assignTo: dev, description: d }, { title: b, assignTo: dev, description: d, dependsOn: [a] }]')
    expect(await server.outcome()).toBe('clean')
    expect((await server.ask('/v1/tasks/m-1%2Fa/overrule', overrule('fail'))).status).toBe(200)
    await server.endsAnew()
    expect(await server.outcome()).toBe('clean')
    expect([(await server.task('a')).attempt, (await server.task('b')).attempt]).toEqual([2, 2])
    await server.end()
  })

  it('to fail ends its card: the bytes that it handed over are not given out any more, those of the next one are', {
    timeout,
  }, async () => {
    const made = project()
    const server = await serving(made)
    const sent = async () => {
      const { json } = await server.ask('/v1/inbox')
      return (json.items as { card: string; type: string }[]).filter(({ type }) => type === 'report_ready').map(({ card }) => card)
    }
    const bytesOf = (card = '') => server.ask(`/v1/inbox/${encodeURIComponent(card)}/files/a.txt`)
    await server.finish('[{ title: a, assignTo: dev, description: d, deliverable: { id: da, kind: file, path: a.txt } }]')
    const [first] = await sent()
    expect((await bytesOf(first)).text).toBe('one')
    expect((await server.ask('/v1/tasks/m-1%2Fa/overrule', overrule('fail'))).status).toBe(200)
    await server.endsAnew()
    const refused = await bytesOf(first)
    expect([refused.status, refused.json.code, refused.json.detail]).toEqual([
      409,
      'wrong_status',
      expect.stringMatching(/hands nothing over/),
    ])
    const [second] = (await sent()).filter((card) => card !== first)
    expect((await bytesOf(second)).text).toBe('two')
    await server.end()
  })

  it('is refused without the owner’s token, without a reason, and where there is nothing to turn; nothing is opened', {
    timeout,
  }, async () => {
    const made = project()
    const server = await serving(made)
    await server.finish('[{ title: a, assignTo: dev, description: d }]')
    const path = '/v1/tasks/m-1%2Fa/overrule'
    expect((await server.ask(path, { ...overrule('fail'), token: null })).status).toBe(401)
    expect((await server.ask(path, { body: { outcome: 'fail', reason: ' ' } })).status).toBe(400)
    expect((await server.ask(path, overrule('pass'))).status).toBe(409)
    expect((await server.ask('/v1/tasks/m-1%2Fghost/overrule', overrule('fail'))).status).toBe(404)
    expect((await made.events()).map(({ type }) => type)).not.toContain('mission.reopened')
    await server.end()
  })
})
