import { describe, expect, it } from 'vitest'
import { useAssay } from '../front-door/assay.ts'
import { whileRuns } from '../front-door/processes.ts'
import { makeProject, parseLines, type Project } from '../front-door/project.ts'
import { ask, openDoor, workerToken } from './open-door.ts'

useAssay()

const mission = (name: string, title = 'a') => `name: ${name}\ntasks: [{ title: ${title}, assignTo: ext, description: Do it. }]`
const starting = (key: string, body: string) => ({ body, headers: { 'content-type': 'application/yaml', 'idempotency-key': key } })

describe('a key, after the server was started anew', () => {
  it('names the run that it joined, whatever became of that', async () => {
    const door = await openDoor()
    expect((await door.ask('/v1/missions', starting('k1', mission('M')))).json).toMatchObject({ mission: 'm-1', joined: false })
    expect((await door.ask('/v1/missions', starting('k2', mission('M')))).json).toMatchObject({ mission: 'm-1', joined: true })
    expect((await door.ask('/v1/missions/m-1/stop', { body: { reason: 'enough' } })).status).toBe(200)
    const later = await door.another()
    for (const key of ['k1', 'k2'])
      expect((await later('/v1/missions', starting(key, mission('M')))).json).toMatchObject({ mission: 'm-1', joined: true })
    expect(await door.engine.missions()).toHaveLength(1)
    expect((await later('/v1/missions', starting('k3', mission('M')))).json).toMatchObject({ mission: 'm-2', joined: false })
  })

  it('is refused for any other request', async () => {
    const door = await openDoor({ delegate: { agent: 'dev' } })
    await door.ask('/v1/missions', starting('k1', mission('M')))
    const later = await door.another()
    for (const [path, body] of [
      ['/v1/missions', mission('Other')],
      ['/v1/missions', mission('M', 'b')],
      ['/v1/missions?fresh=true', mission('M')],
    ] as const)
      expect(await later(path, starting('k1', body))).toMatchObject({ status: 422, json: { code: 'key_reused' } })
    expect(await door.engine.missions()).toHaveLength(1)
    const handing = (goal: string) => ({ body: { call: { goal } }, token: workerToken, headers: { 'idempotency-key': 'd1' } })
    expect((await later('/v1/delegations', handing('one'))).status).toBe(202)
    const latest = await door.another()
    expect(await latest('/v1/delegations', handing('another'))).toMatchObject({ status: 422, json: { code: 'key_reused' } })
    expect((await latest('/v1/delegations', handing('one'))).json).toMatchObject({ delegation: 'delegation-1' })
  })

  it('names the card that was sent under it, and no other', async () => {
    const door = await openDoor()
    const sending = (title: string) => ({
      body: { type: 'milestone', title },
      token: workerToken,
      headers: { 'idempotency-key': 'c1' },
    })
    expect((await door.ask('/v1/cards', sending('half way'))).status).toBe(201)
    const later = await door.another()
    expect((await later('/v1/cards', sending('half way'))).status).toBe(201)
    // One that has not heard of the key itself: only the journal knows it.
    const latest = await door.another()
    expect(await latest('/v1/cards', sending('all the way'))).toMatchObject({ status: 422, json: { code: 'key_reused' } })
    expect(await door.engine.inbox()).toHaveLength(1)
  })

  it('starts one run where two servers are asked at once, for one thing or for two', async () => {
    const door = await openDoor()
    const other = await door.another()
    const same = await Promise.all([door.ask, other].map((one) => one('/v1/missions?fresh=true', starting('k1', mission('M')))))
    expect(same.map(({ json }) => json.mission)).toEqual(['m-1', 'm-1'])
    const two = await Promise.all([
      door.ask('/v1/missions', starting('k2', mission('One'))),
      other('/v1/missions', starting('k2', mission('Two'))),
    ])
    expect(two.map(({ status }) => status).sort()).toEqual([201, 422])
    expect(await door.engine.missions()).toHaveLength(2)
  })
})

describe('a request that came to nothing', () => {
  it('may be put right under the same key', async () => {
    const { ask: asked } = await openDoor()
    expect((await asked('/v1/missions', starting('k1', 'name: M'))).status).toBe(422)
    expect((await asked('/v1/missions', starting('k1', mission('M')))).json).toMatchObject({ mission: 'm-1' })
  })

  it('may be repeated as it was, once its cause is gone', async () => {
    const { ask: asked } = await openDoor()
    await asked('/v1/missions', starting('k1', mission('M')))
    const changed = starting('k2', mission('M', 'b'))
    expect(await asked('/v1/missions', changed)).toMatchObject({ status: 409, json: { code: 'other_plan_running' } })
    expect((await asked('/v1/missions/m-1/stop', { body: { reason: 'enough' } })).status).toBe(200)
    expect((await asked('/v1/missions', changed)).json).toMatchObject({ mission: 'm-2', joined: false })
  })
})

describe('assay serve, killed', () => {
  const owner = 'the-owner-of-the-test'
  const serve = async (project: Project) => {
    const running = project.start(['serve', '--port', '0', '--json'])
    await whileRuns(running, 'it serves', () => running.stdout().includes('\n'))
    const [said] = parseLines<{ port: number }>(running.stdout())
    if (!said) throw new Error('it said nothing')
    return { running, start: (key: string, body: string) => ask(said.port, '/v1/missions', { ...starting(key, body), token: owner }) }
  }

  it('knows every key that it answered before', { timeout: 120_000 }, async () => {
    const project = makeProject({
      'assay.yaml': { brains: { out: { kind: 'outside' } }, agents: { ext: { role: 'engineer', brain: 'out' } } },
      '.config/assay/owner-token': `${owner}\n`,
    })
    const first = await serve(project)
    expect((await first.start('k1', mission('M'))).json).toMatchObject({ mission: 'm-1', joined: false })
    expect((await first.start('k2', mission('M'))).json).toMatchObject({ mission: 'm-1', joined: true })
    first.running.child.kill('SIGKILL')
    expect((await first.running.ended).code).not.toBe(0)
    const stopped = await project.run(['mission', 'stop', 'm-1', '--reason', 'enough'], { env: { ASSAY_OWNER_TOKEN: owner } })
    expect(stopped.code).toBe(0)
    const second = await serve(project)
    expect((await second.start('k2', mission('M'))).json).toMatchObject({ mission: 'm-1', joined: true })
    expect(await second.start('k1', mission('Other'))).toMatchObject({ status: 422, json: { code: 'key_reused' } })
    second.running.child.kill('SIGTERM')
    await second.running.ended
  })
})
